"""Which calls run a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.training.model_calls import runs_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module


@pytest.mark.parametrize(
    ("call", "runs"),
    [
        ("model(x)", True),
        ("self.encoder(x)", True),
        ("self.critic(x)", True),
        ("moved(x)", True),
        ("models[0](x)", False),
        ("criterion(x)", False),
        ("pipe(x)", False),
        ("model.modules()", False),
        ("tools.build_model(x)", False),
        ("found.get_model(x)", False),
        ("scale(x)", False),
    ],
)
def test_a_call_of_a_module_that_is_not_a_loss_and_not_a_function(
    module_of: Callable[..., Module], call: str, runs: bool
) -> None:
    module = module_of(
        f"""
        import tools
        moved = anything().to("cuda")
        def run(self, model, models, criterion, pipe, found, scale, x):
            {call}
        """
    )
    (found,) = [each for each in module.calls_within(module.tree) if module.source(each) == call]
    assert runs_model(found, module) is runs
