"""ignite: https://docs.pytorch.org/ignite/concepts.html#events-and-handlers"""

from torchlint.analysis.frameworks.adapter import Framework, Runner

IGNITE = Framework(
    hook_words=("ITERATION_",),
    runners=(
        Runner(
            r"^ignite\.distributed\.(?:device|auto_\w+|Parallel)$",
            r"\bignite\b",
            host=(("backend", ("gloo",)),),
        ),
        Runner(
            r"^ignite\.engine\.create_supervised_trainer$",
            r"\bcreate_supervised_trainer\b",
            accelerates=False,
            trains=True,
        ),
    ),
    handler_calls=frozenset({"add_event_handler"}),
    handler_decorators=frozenset({"on"}),
    # Those that fire on each step, when no `every=` is given.
    step_events=frozenset(
        {"ITERATION_COMPLETED", "ITERATION_STARTED", "FORWARD", "BACKWARD", "GET_BATCH_COMPLETED"}
    ),
)
