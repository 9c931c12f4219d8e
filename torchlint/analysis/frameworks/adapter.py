"""What torchlint asks of a training framework: the fields that an adapter fills in."""

from __future__ import annotations

from typing import NamedTuple

_Names = frozenset[str]
_NONE: _Names = frozenset()


class Setting(NamedTuple):
    """An argument of a framework's class that sets something torch has itself.

    `of` is a pattern for the dotted name of the class, `keywords` are those that set it. `words` is
    a pattern for the text of files that may leave it at its default.
    """

    name: str
    of: str
    keywords: tuple[str, ...]
    words: str = ""


class Keeps(NamedTuple):
    """An argument that keeps a run on the CPU: `accelerator="cpu"`. `position` is where it may be
    passed without the keyword, from 0."""

    keyword: str
    value: object
    position: int | None = None


class Runner(NamedTuple):
    """Classes and functions of a framework that put a program on an accelerator where there is one,
    and may take its training steps.

    Those of `decides` choose the device, if no argument keeps them on the CPU and, for those that
    need to be told, one has the keyword `told`. Those of `belongs` are used together with them.
    `trains` are those whose call alone trains, and `starts` the methods of all of them that do. All
    but `packages` and `starts` are patterns for the last part of a dotted name.
    """

    packages: tuple[str, ...]
    decides: str
    belongs: str = ""
    keeps: tuple[Keeps, ...] = ()
    told: str = ""
    trains: str = ""
    starts: _Names = _NONE

    @property
    def names(self) -> str:
        """A pattern for all of them."""
        return "|".join(filter(None, (self.decides, self.belongs, self.trains)))


class Framework(NamedTuple):
    """One training framework. An adapter leaves out what its framework does not have.

    Words and patterns are looked for in the bytes of files, so this room imports no LibCST.
    """

    # in the text of a file
    step_words: tuple[str, ...] = ()
    """Patterns for code that takes a training step."""
    hook_words: tuple[str, ...] = ()
    """Patterns for code that registers a function to be called on each step."""
    accelerator_words: tuple[str, ...] = ()
    """Patterns for code that runs on an accelerator, without a runner."""
    shown_by: tuple[str, ...] = ()
    """Patterns for a file whose training loop is the framework's."""
    owns: _Names = _NONE
    """Torch settings that such a loop has a switch of its own for."""

    # names
    renamed: tuple[tuple[str, str], ...] = ()
    """Packages that are another package under an older name, with their dots."""
    moved: tuple[tuple[str, str], ...] = ()
    """Names that the framework exports in more than one place, and the one that counts."""
    packages: tuple[str, ...] = ()
    """Packages whose modules and optimizers keep torch's own methods, such as `zero_grad`."""
    module_classes: tuple[str, ...] = ()
    """What the names of classes end with that are `nn.Module`s."""
    accelerator_calls: tuple[str, ...] = ()
    """What the dotted names of functions and classes begin with that use an accelerator."""
    accelerator_questions: _Names = _NONE
    """Those that only ask for one."""

    # runs
    runners: tuple[Runner, ...] = ()
    """What chooses the device of a program, or takes its training steps."""

    # steps
    step_methods: tuple[str, ...] = ()
    """Methods that compute the loss of one step."""
    step_hooks: tuple[tuple[str, _Names], ...] = ()
    """A pattern for a base class, and the methods that the framework calls on each step."""
    loose_hooks: tuple[tuple[str, _Names], ...] = ()
    """The same for those of hand-written loops, of which nobody knows what they are passed."""
    step_forwards: tuple[str, ...] = ()
    """Patterns for base classes of modules whose `forward` is such a method. Too many files have
    that name, so `hook_words` must show it."""
    evaluation_hooks: _Names = _NONE
    """Methods that the framework calls for evaluation."""
    evaluation_modes: _Names = _NONE
    """What `mode` or `phase` is where a step evaluates: `if mode == "predict":`."""
    backward_methods: _Names = _NONE
    """Methods that do a backward pass: of their object, or of the loss that they take."""
    barriers: _Names = _NONE
    """Methods that wait for all processes."""
    handler_calls: _Names = _NONE
    """Methods that register a function for an event: `engine.add_event_handler(event, f)`."""
    handler_decorators: _Names = _NONE
    """Methods that do so as a decorator: `@engine.on(event)`."""
    step_events: _Names = _NONE
    """Events that happen on each step."""
    hook_tables: tuple[str, ...] = ()
    """Dicts of functions: `engine.hooks["on_forward"] = f`."""
    table_keys: _Names = _NONE
    """Their keys for functions that are called on each step."""

    # batches
    prepares: _Names = _NONE
    """Methods that return their arguments, ready for the device: loaders then move batches."""
    unwraps: _Names = _NONE
    """Methods that return the module inside the wrapped one that they are given."""
    host_parameters: _Names = _NONE
    """Parameters of a step hook that are numbers. Others get what is on the device."""
    module_parameters: _Names = _NONE
    """Parameters of a step hook that are modules."""
    state_tensors: _Names = _NONE
    """Keys of the `state` that a registered function gets, for tensors on the device."""

    settings: tuple[Setting, ...] = ()
