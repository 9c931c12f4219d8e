"""The version of torchlint, and where its documentation is."""

__version__ = "0.1.0"
SITE = ""
"""The address of the documentation, with a slash at its end, which `.ci/release build` sets.
Without one, nothing that is printed leads to a page."""


def rule_url(code: str, name: str) -> str | None:
    """The page of a rule, if there is a site; it has none of plugins, whose codes are their own."""
    return f"{SITE}rules/{name}/" if SITE and code.startswith("TL") else None


def kind_url(name: str) -> str | None:
    """The page of a kind of run-time finding, if there is a site."""
    return f"{SITE}runtime/{name}/" if SITE else None
