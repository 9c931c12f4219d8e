"""Which files are worth parsing, and what their bytes show before that."""

from __future__ import annotations

import re

import pytest

from torchlint.engine.gate import wanted_by
from torchlint.files.words import UNCOMMENTED, Words
from torchlint.finding import Tier
from torchlint.project.target import mentions_torch
from torchlint.ruleapi.declared import Argument, method
from torchlint.ruleapi.rule_definition import Rule, Triggers


def rule(code: str = "TL901", **rest: object) -> Rule:
    return Rule(code=code, name=code.lower(), family="test", summary="", **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "mentions"),
    [
        (b"import torch\n", True),
        (b"from pytorch_lightning import Trainer\n", True),
        (b"import lightning as L\n", True),
        (b"from accelerate import Accelerator\n", True),
        (b"import numpy\n", False),
        (b"", False),
        (b"\xff\xfe\x00torch", True),
    ],
)
def test_only_files_that_mention_torch_matter(data: bytes, mentions: bool) -> None:
    assert mentions_torch(data) is mentions


class TestWanted:
    def test_a_rule_wants_a_file_in_which_each_of_its_triggers_matches(self) -> None:
        both = rule(triggers=(r"DataLoader\b", r"\bnet\w*"))
        assert wanted_by(b"DataLoader(x); network", [both]) == ["TL901"]
        assert wanted_by(b"DataLoader(x)", [both]) == []
        assert wanted_by(b"DataLoaders; network", [both]) == []

    def test_a_rule_without_triggers_wants_all(self) -> None:
        assert wanted_by(b"anything", [rule()]) == ["TL901"]

    def test_a_rule_may_look_once_more(self) -> None:
        narrow = rule(triggers=Triggers(("a",), check=lambda data: b"b" in data))
        assert wanted_by(b"a", [narrow]) == []
        assert wanted_by(b"ab", [narrow]) == ["TL901"]

    def test_a_file_loaded_on_demand_is_wanted_for_less(self) -> None:
        helper_rule = rule(triggers=Triggers((r"backward\(",), on_demand=(r"\.item\(\)", "loss")))
        assert wanted_by(b"loss.item()", [helper_rule]) == []
        assert wanted_by(b"loss.item()", [helper_rule], on_demand=True) == ["TL901"]
        assert wanted_by(b"x.item()", [helper_rule], on_demand=True) == []
        assert wanted_by(b"loss.item()", [rule(triggers=("backward",))], on_demand=True) == []

    def test_a_file_that_is_summarized_is_wanted_for_less_at_once(self) -> None:
        cold = rule("TL902", triggers=Triggers((r"zeros\(",), summarizes=True))
        hot = rule(triggers=Triggers(on_demand=(r"\.item\(\)",)))
        assert wanted_by(b"zeros(3); loss.item()", [hot, cold]) == ["TL901", "TL902"]
        assert wanted_by(b"ones(3); loss.item()", [hot, cold]) == []

    def test_words_in_a_docstring_are_not_enough(self) -> None:
        code = b"def f():\n    'calls zeros(3)'\n"
        assert wanted_by(code, [rule(triggers=(r"zeros\(",))]) == []
        assert wanted_by(code + b"    x = zeros(3)", [rule(triggers=(r"zeros\(",))]) == ["TL901"]
        assert wanted_by(code + b"    (", [rule(triggers=(r"zeros\(",))]) == ["TL901"]

    def test_a_pattern_wants_a_file_with_a_bad_value_alone(self) -> None:
        declared = rule(finds=(method("step", Argument("foreach", bad=False)),))
        assert wanted_by(b"optimizer.step(foreach=False)", [declared]) == ["TL901"]
        assert wanted_by(b"optimizer.step(foreach=None)  # not False", [declared]) == []

    def test_what_a_rule_with_patterns_checks_itself_may_be_without_them(self) -> None:
        coded = rule(finds=(method("step", Argument("foreach", bad=False)),))
        coded.on_module(lambda _: ())
        assert wanted_by(b"optimizer.step(foreach=None)", [coded]) == ["TL901"]

    def test_a_rule_may_look_at_the_outline(self) -> None:
        narrow = rule(triggers=Triggers(("a",), outline=lambda outline: any(outline.methods("a"))))
        assert wanted_by(b"a.b()", [narrow]) == []
        assert wanted_by(b"b.a()", [narrow]) == ["TL901"]

    def test_no_file_is_parsed_for_what_is_not_asked_for(self) -> None:
        hint = rule(tier=Tier.HINT, triggers=("a",))
        both = rule("TL902", finds=(method("a", tier=Tier.HINT), method("a", Argument("x", bad=0))))

        def asked(_: Rule, tier: Tier) -> bool:
            return tier is Tier.DEFAULT

        assert wanted_by(b"b.a()", [hint, both]) == ["TL901", "TL902"]
        assert wanted_by(b"b.a()", [hint, both], asked=asked) == []
        assert wanted_by(b"b.a(x=0)", [hint, both], asked=asked) == ["TL901", "TL902"]

    def test_codes_keep_the_order_of_the_rules(self) -> None:
        rules = [rule("TL902", triggers=("a",)), rule("TL901", triggers=("a",))]
        assert wanted_by(b"a", rules) == ["TL902", "TL901"]


class TestMatches:
    @pytest.mark.parametrize(
        ("pattern", "text", "found"),
        [
            (r"DataLoader\b", "x = DataLoader(y)", True),
            (r"DataLoader\b", "x = DataLoaders(y)", False),
            (r"backward\(|training_step", "def training_step(self):", True),
            (r"\w*(?:opt|solver)\w*\.step\(", "my_solver.step()", True),
            (r"\w*(?:opt|solver)\w*\.step\(", "env.step()", False),
            (r"^import", "x\nimport", False),
            (r"(?m)^import", "x\nimport", True),
        ],
    )
    def test_a_pattern_is_an_ordinary_regular_expression(
        self, pattern: str, text: str, found: bool
    ) -> None:
        assert Words(text.encode()).match(pattern) is found

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("x.cuda()", True),
            ("# x.cuda()", False),
            ("y = 1  # x.cuda()", False),
            ("# x.cuda()\nx.cuda()", True),
            ("x.cuda()  # to the GPU", True),
            ("# to the GPU\ny = x.cuda()", True),
            ("# x.cuda() x.cuda()\n# x.cuda()", False),
            ("# x.cuda() x.cuda()\ny = x.cuda()", True),
        ],
    )
    def test_a_pattern_may_leave_comments_out(self, text: str, found: bool) -> None:
        assert Words(text.encode()).match(UNCOMMENTED + r"\.cuda\(") is found

    @pytest.mark.parametrize(
        "pattern",
        [
            r"\btensor\(",
            r"(?<!To)(?<!is_)Tensor\(",
            r"(?<!\bre)\.compile\b|\btensors?\(",
            r"\b(?:one|two)\b|\bthree\w{0,3}\(|(?i:FOUR)",
            r"(?m)^three|four$",
        ],
    )
    def test_each_pattern_finds_what_re_finds(self, pattern: str) -> None:
        for text in (
            *(
                "tensor(",
                "mytensor(",
                "x.tensor(",
                "tensors(",
                "Tensor(",
                "ToTensor(",
                "is_Tensor(",
            ),
            *(
                "re.compile",
                "torch.compile",
                "are.compile",
                ".compiled",
                "one",
                "two2",
                "x three4(",
            ),
            *("three12345(", "four", "Fours", "three", "x three", "\nthree x", "four x", ""),
        ):
            expected = re.search(pattern, text) is not None
            assert Words(text.encode()).match(pattern) is expected, text
