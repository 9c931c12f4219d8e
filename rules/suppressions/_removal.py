"""Removes suppression comments from a file, and rules from comments."""

from collections.abc import Collection

from torchlint.analysis.places import line_start, next_line
from torchlint.rule import Edit, Module
from torchlint.silence.suppression_comments import Comment


def without_comment(comment: Comment, module: Module) -> Edit:
    """Remove a suppression with its reason. Other text of the comment stays; a line without other
    text is deleted."""
    text = module.text
    before = text[comment.begins : comment.start].rstrip()
    after = text[comment.end : comment.stops].lstrip()
    if after:
        other = comment.stops - len(after)
        return _edit(module, comment.start, other, "" if after.startswith("#") else "# ")
    if before:
        return _edit(module, comment.begins + len(before), comment.stops, "")
    if comment.alone:
        start = line_start(module, comment.begins)
        return _edit(module, start, next_line(module, comment.stops), "")
    code = len(text[line_start(module, comment.begins) : comment.begins].rstrip())
    return _edit(module, line_start(module, comment.begins) + code, comment.stops, "")


def without_names(comment: Comment, dropped: Collection[str], module: Module) -> Edit:
    """Remove some rules from the brackets of a comment."""
    names = comment.names or ()
    comma = module.text[names[0].end : names[1].start]
    kept = comma.join(name.text for name in names if name.text not in dropped)
    return _edit(module, names[0].start, names[-1].end, kept)


def _edit(module: Module, start: int, end: int, content: str) -> Edit:
    return Edit(module.position(start), module.position(end), content)
