"""What torchlint asks of a training framework: the fields that an adapter fills in."""

from __future__ import annotations

from typing import NamedTuple

_Names = frozenset[str]
_NONE: _Names = frozenset()


class Setting(NamedTuple):
    """An argument of a framework's class that stands for something torch has itself.

    `of` is a pattern for the dotted name of the class, `keywords` are those that set it. `words` is
    a pattern for the text of files that may leave it at its default.
    """

    name: str
    of: str
    keywords: tuple[str, ...]
    words: str = ""


class Runner(NamedTuple):
    """What moves the work to an accelerator by itself, takes the training steps, or does both.

    Args:
        of: a pattern for the dotted name of a function or class that is called, or that a class
            inherits from.
        words: a pattern for the text of files with one.
        accelerates: it uses an accelerator where there is one.
        trains: what it makes takes training steps; of a base class that says nothing.
        host: arguments with the values by which it stays on the CPU.
    """

    of: str
    words: str = ""
    accelerates: bool = True
    trains: bool = False
    host: tuple[tuple[str, tuple[object, ...]], ...] = ()


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
    """Patterns for code that runs on an accelerator, for files that are not parsed. Those with the
    words of `runners` are."""
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
    runners: tuple[Runner, ...] = ()
    """What uses an accelerator, or takes training steps, where a program calls it."""

    # steps
    step_methods: tuple[str, ...] = ()
    """Methods that compute the loss of one step."""
    step_hooks: tuple[tuple[str, _Names], ...] = ()
    """A pattern for a base class, and the methods that the framework calls on each step."""
    evaluation_hooks: _Names = _NONE
    """Methods that the framework calls for evaluation."""
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
    """Parameters of a step hook that are numbers. Others get what lies on the device."""
    module_parameters: _Names = _NONE
    """Parameters of a step hook that are modules."""
    state_tensors: _Names = _NONE
    """Keys of the `state` that a registered function gets, for tensors on the device."""

    settings: tuple[Setting, ...] = ()
