"""ignite: https://docs.pytorch.org/ignite/concepts.html#events-and-handlers"""

from torchlint.analysis.frameworks.adapter import Framework, Keeps, Runner

IGNITE = Framework(
    runners=(
        Runner(packages=("ignite.distributed",), decides=r"device|auto_(?:model|dataloader)"),
        Runner(
            packages=("ignite.distributed",),
            decides="Parallel",
            keeps=(Keeps("backend", "gloo", 0),),
        ),
        Runner(
            packages=("ignite",),
            decides=r"(?:create_)?supervised_(?:trainer|evaluator|training_step\w*|evaluation_step\w*)",
            keeps=(Keeps("device", "cpu"),),
            told="device",
            trains="create_supervised_trainer",
        ),
    ),
    hook_words=("ITERATION_",),
    handler_calls=frozenset({"add_event_handler"}),
    handler_decorators=frozenset({"on"}),
    # Those that fire on each step, when no `every=` is given.
    step_events=frozenset(
        {"ITERATION_COMPLETED", "ITERATION_STARTED", "FORWARD", "BACKWARD", "GET_BATCH_COMPLETED"}
    ),
)
