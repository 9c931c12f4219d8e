"""The pages of `verify`, `profile` and `tune` as files; what they show is tested in their rooms."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.report.measured.test_measured_json import RENDERERS, SAMPLES
from tests.report.profile import sample_profiles as profiles
from tests.report.strict_page import TAGS, Page, poisoned
from tests.report.tune import sample_tunings as tunings
from tests.report.verify import sample_results as results
from torchlint.report.profile import profile_page
from torchlint.report.tune import tune_page
from torchlint.report.verify import verification_page
from torchlint.verify.result import Noise

RENDER: dict[str, Any] = {
    "verify": verification_page.render,
    "profile": profile_page.render,
    "tune": tune_page.render,
}
POISONED: dict[str, Any] = {
    "verify": poisoned(results.full()),
    "profile": dataclasses.replace(poisoned(profiles.full()), lanes=profiles.LANES),
    "tune": poisoned(tunings.full()),
}
MORE: dict[str, list[Any]] = {
    "verify": [
        results.result(strips=results.strips(), lanes=results.lanes()),
        results.result(aa=None, total=None, plan=None, fixes=(), exit=4, summary="a\nb\nc"),
        results.result(aa=Noise(results.estimate(1.2), 0.2, fit=False, why="load"), fixes=()),
    ],
    "profile": [
        dataclasses.replace(
            profiles.rehearsed(), rehearsal=None, findings=(), exit=4, summary="It failed."
        ),
    ],
    "tune": [],
}
ALL = [
    (command, each)
    for command, samples in SAMPLES.items()
    for each in (*samples, *MORE[command], POISONED[command])
]
COMMANDS = pytest.mark.parametrize("command", RENDER)


@pytest.mark.parametrize(("command", "result"), ALL)
def test_a_page_is_well_made_loads_nothing_and_runs_nothing(command: str, result: Any) -> None:
    shown = Page(RENDER[command](result))
    assert {tag for tag, _ in shown.elements} <= TAGS
    shown.loads_nothing()
    scripts = [attrs for tag, attrs in shown.elements if tag == "script"]
    name = "rehearse" if getattr(result, "is_rehearsal", False) else command
    assert scripts == [{"type": "application/json", "id": f"torchlint-{name}"}]
    assert not any(name.startswith("on") for _, attrs in shown.elements for name in attrs)
    assert shown.data() == json.loads(RENDERERS[command](result))
    ids = shown.values("id")
    assert len(ids) == len(set(ids))
    assert {each for value in shown.values("aria-labelledby") for each in value.split()} <= set(ids)
    assert {link[1:] for link in shown.values("href")} <= set(ids)
    assert all(attrs["tabindex"] == "0" for tag, attrs in shown.elements if tag == "pre")


@COMMANDS
def test_hidden_characters_are_written_out(command: str) -> None:
    markup = RENDER[command](POISONED[command])
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", markup)
    assert "<img src=x onerror=alert(1)>\\u202e\\x1b" in Page(markup).text()


@COMMANDS
def test_a_name_that_is_not_text_still_makes_a_file(command: str) -> None:
    odd = dataclasses.replace(SAMPLES[command][1], argv=("caf\udce9.py",), notes=("\ud800",))
    assert "caf\\xe9.py" in RENDER[command](odd).encode().decode()


@COMMANDS
def test_the_same_result_gives_the_same_page(command: str) -> None:
    result = SAMPLES[command][1]
    assert RENDER[command](result) == RENDER[command](result)


@COMMANDS
def test_jinja2_is_imported_only_for_a_page(command: str) -> None:
    module = RENDER[command].__module__
    code = f"import sys, {module}; print('jinja2' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"


@COMMANDS
def test_lanes_of_a_gpu_are_marked_as_the_hosts(command: str) -> None:
    samples = {
        "verify": MORE["verify"][0], "profile": profiles.profile(), "tune": tunings.tuning()
    }  # fmt: skip
    known = samples[command]
    for device, said in (("cpu", False), ("cuda", True)):
        machine = results.environment(device=device)
        shown = Page(RENDER[command](dataclasses.replace(known, environment=machine))).text()
        assert ("It is the host's time, and the GPU's queue may be behind it." in shown) == said


def test_words_between_backticks_are_code() -> None:
    facts = ("a `b` c", "`<b>`", "it`s")
    found = profiles.profile(findings=tuple(profiles.finding(fact=each) for each in facts))
    markup = profile_page.render(found)
    for part in ("a <code>b</code> c", "<code>&lt;b&gt;</code>", "it`s"):
        assert f'<p class="fact">{part}</p>' in markup
