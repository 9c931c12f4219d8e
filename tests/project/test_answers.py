"""Answers to questions about texts, in two bits each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from torchlint.project.answers import Answers, both, packed, questions, unpacked


def questions_of(packed: bytes) -> set[str]:
    return {questions()[number] for number in unpacked(packed)}


@given(st.dictionaries(st.text(max_size=3), st.booleans()))
def test_each_answer_is_given_back(known: dict[str, bool]) -> None:
    answers = Answers(known)
    assert answers.as_dict() == known
    assert {question: answers.get(question) for question in known} == known
    assert questions_of(packed(answers.asked)) == known.keys()
    assert not answers.changed


def test_what_was_not_asked_has_no_answer() -> None:
    answers = Answers({"asked of another file": False})
    other = Answers()
    assert other.get("asked of another file") is None
    assert other.get("never asked") is None
    other.note("asked here", answer=True)
    assert answers.get("asked here") is None
    assert other.as_dict() == {"asked here": True}


def test_files_that_were_asked_the_same_have_the_same_set() -> None:
    first, second = Answers(), Answers()
    for question in ("a", "b"):
        first.note(question, answer=True)
    for question in ("b", "a"):
        second.note(question, answer=False)
    assert first.asked == second.asked


@given(st.sets(st.text(max_size=2)), st.sets(st.text(max_size=2)))
def test_packed_sets_that_are_put_together_have_the_questions_of_both(
    some: set[str], others: set[str]
) -> None:
    one, other, all_ = (
        Answers(dict.fromkeys(each, True)).asked for each in (some, others, some | others)
    )
    assert both(packed(one), packed(other)) == packed(all_)
    assert questions_of(packed(all_)) == some | others


def test_what_was_asked_last_takes_no_more_room_than_what_was_asked_first() -> None:
    Answers(dict.fromkeys(map(str, range(1000)), True))
    first, last = (Answers({number: True}).asked for number in ("0", "999"))
    assert len(packed(first)) == len(packed(last))
