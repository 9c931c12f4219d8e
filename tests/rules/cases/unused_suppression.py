# TL001: which comments are called unused, which never are, and what the fix leaves of a line.

# head: a training loop, with every rule on [select=ALL]
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()

    # case: used: a code
    print(loss.item())  # torchlint: ignore[TL201]

    # case: used: a name
    print(loss.item())  # torchlint: ignore[item-in-step-loop] -- by name

    # case: used: all rules
    print(loss.item())  # torchlint: ignore

    # case: used: ALL
    print(loss.item())  # torchlint: ignore[ALL]

    # case: used: a code and its name
    print(loss.item())  # torchlint: ignore[TL201, item-in-step-loop]

    # case: used: a file
    print(loss.item())
# torchlint: ignore-file[TL201]

    # case: used: a file for all rules
    print(loss.item())
# torchlint: ignore-file

    # case: never unused: a code of a run
    x = 1  # torchlint: ignore[TR201]

    # case: never unused: a code of a run beside a rule that silences something
    print(loss.item())  # torchlint: ignore[TL201, TR201]

    # case: unused: another rule
    print(loss.item())  # torchlint: ignore[TL202]  # TL201 # TL001 | says: `ignore` suppresses nothing here

    # case: unused: two other rules
    print(loss.item())  # torchlint: ignore[TL202, TL101]  # TL201 # TL001 | says: `ignore` suppresses nothing here

    # case: unused: no rule
    print(loss.item())  # torchlint: ignore[]  # TL201 # TL001 | says: `ignore` suppresses nothing here

    # case: unused: one rule of two
    print(loss.item())  # torchlint: ignore[TL201, TL202]  # TL001 | says: `TL202` in this comment suppresses nothing here

    # case: unused: two rules of three
    print(loss.item())  # torchlint: ignore[TL101, TL201, tensor-copies-numpy]  # TL001 | says: `TL101`, `tensor-copies-numpy` in this comment suppresses nothing here

    # case: unused: another rule for the file
    print(loss.item())  # TL201
# torchlint: ignore-file[TL202]  # TL001 | says: `ignore-file` suppresses nothing in this file

    # case: used: each of two comments on one finding
    print(loss.item())  # torchlint: ignore[TL201]
# torchlint: ignore-file[TL201]

    # case: left alone: a hint that nobody asked for
    if rank == 0:
        print(loss.item())  # torchlint: ignore[TL201]

    # case: the fix leaves the rules that are needed: first
    print(loss.item())  # torchlint: ignore[TL202, TL201] -- why  # noqa  # TL001 safe
    # becomes: print(loss.item())  # torchlint: ignore[TL201] -- why  # noqa

    # case: the fix leaves the rules that are needed: last
    print(loss.item())  # torchlint: ignore[TL201, TL202] -- why  # noqa  # TL001 safe
    # becomes: print(loss.item())  # torchlint: ignore[TL201] -- why  # noqa

    # case: the fix leaves the rules that are needed: without spaces
    print(loss.item())  # torchlint: ignore[TL202,TL201,TL101] -- why  # noqa  # TL001 safe
    # becomes: print(loss.item())  # torchlint: ignore[TL201] -- why  # noqa

    # case: the fix leaves the rules that are needed: without commas
    print(loss.item())  # torchlint: ignore[TL201 TL202 item-in-step-loop] -- why  # noqa  # TL001 safe
    # becomes: print(loss.item())  # torchlint: ignore[TL201 item-in-step-loop] -- why  # noqa

    # case: the fix leaves the rules that are needed: spaces around
    print(loss.item())  # torchlint: ignore[ TL202 , TL201 ] -- why  # noqa  # TL001 safe
    # becomes: print(loss.item())  # torchlint: ignore[ TL201 ] -- why  # noqa

# head: a file that uses torch [select=ALL]
import torch

# case: unused: a line without a finding
for x in loader:
    loss = model(x.cuda())
    loss.backward()
    print(loss.item())  # TL201
x = 1  # torchlint: ignore  # TL001 | says: `ignore` suppresses nothing here

# case: unused: a block without a finding
for x in loader:
    loss = model(x.cuda())
    loss.backward()
    print(loss.item())  # TL201
# torchlint: disable[TL201]  # TL001 | says: `disable` suppresses nothing in this block
x = 1
# torchlint: enable[TL201]

# case: unused: a rule that is off in tests
x = 1  # torchlint: ignore[TL101]  # TL001

# case: left alone: a finding that waits for other files
from torch import optim
def note(value):
    return value.item()  # torchlint: ignore[TL201]
def step(loss):
    loss.backward()

# case: silenced by its code
x = 1  # torchlint: ignore[TL202]  # torchlint: ignore[TL001]

# case: silenced by its name
x = 1  # torchlint: ignore[TL202, unused-suppression]

# case: silenced for another tool
x = 1  # noqa: TL001 # torchlint: ignore[TL202]

# case: not silenced by itself
x = 1  # torchlint: ignore  # TL001

# case: not silenced by a comment for all rules
x = 1  # torchlint: ignore[TL202]  # TL001
# torchlint: ignore-file  # TL001

# head: none [select=ALL]

# case: unused: in a file that no other rule reads
x = 1  # torchlint: ignore[TL201]  # TL001 | says: `ignore` suppresses nothing here

# case: left alone: a rule that is off in tests, in a test [path=tests/test_x.py]
import torch
x = 1  # torchlint: ignore[TL101]

# case: left alone: all rules, in a test [path=tests/test_x.py]
import torch
x = 1  # torchlint: ignore

# case: unused: a rule that is on in tests too, in a test [path=tests/test_x.py]
import torch
x = 1  # torchlint: ignore[TL110]  # TL001

# case: left alone: a comment about comments
x = 1  # torchlint: ignore[TL001]

# case: left alone: comments of other tools
x = 1  # noqa: TL201
# torchlint: none

# case: left alone: an unknown rule
x = 1  # torchlint: ignore[TL999]  # TL003

# case: left alone: a bracket that is not closed
x = 1  # torchlint: ignore[TL201  # TL003

# case: used: a helper alone, as no hot code of another file is known to lead to it
def note(value):
    return value.item()  # torchlint: ignore[TL201]

# case: left alone: a helper alone, as hot code of another file may lead to it
def note(value):
    return value.item()
value = 1  # torchlint: ignore[TL201]

# case: used: a helper that hot code of another file leads to
from helper import note
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()
    note(loss)
# file: helper.py
def note(value):
    return value.item()  # torchlint: ignore[TL201]

# case: unused: another line of such a helper
from helper import note
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()
    note(loss)
# file: helper.py
def note(value):
    return value.item()  # TL201
value = 1  # torchlint: ignore[TL201]  # TL001

# case: the fix: a comment behind code
x = 1  # torchlint: ignore[TL201]  # TL001 safe
# becomes: x = 1
y

# case: the fix: with its reason
x = 1  # torchlint: ignore[TL201] -- see #1  # TL001 safe
# becomes: x = 1

# case: the fix: a comment alone
a
# torchlint: ignore[TL201]  # TL001 safe
# removed
b

# case: the fix: the first line
# torchlint: ignore-file[TL201]  # TL001 safe
# removed
b

# case: the fix: a comment before it
x  # noqa: E501  # torchlint: ignore[TL201]  # TL001 safe
# becomes: x  # noqa: E501

# case: the fix: a comment behind it
x  # torchlint: ignore[TL201]  # type: ignore  # TL001 safe
# becomes: x  # type: ignore

# case: the fix: comments around it
x  # type: ignore  # torchlint: ignore[TL201] -- why # noqa  # TL001 safe
# becomes: x  # type: ignore  # noqa

# case: the fix: words before it
# a word # torchlint: ignore[TL201]  # TL001 safe
# becomes: # a word
x

# case: the fix: words behind it
x  # torchlint: ignore[TL201] a word  # TL001 safe
# becomes: x  # a word

# case: the fix: two suppressions
x  # torchlint: ignore[TL201]  # torchlint: ignore[TL202]  # TL001 safe # TL001 safe
# becomes: x

# case: the fix: a block
# torchlint: disable[TL201] -- why  # TL001 safe
# removed
x
# torchlint: enable[TL201]
# removed
y

# case: the fix: an unknown rule stays
x  # torchlint: ignore[TL201, TL999]  # TL001 safe # TL003
# becomes: x  # torchlint: ignore[TL999]

# case: the fix: between brackets
f(
    1,  # torchlint: ignore[TL201]  # TL001 safe
    # becomes: 1,
)

# case: the fix shortens both ends of a block
# torchlint: disable[TL101, TL201]  # TL001 safe
# becomes: # torchlint: disable[TL201]
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()
    print(loss.item())
# torchlint: enable[TL201, TL101]
# becomes: # torchlint: enable[TL201]
