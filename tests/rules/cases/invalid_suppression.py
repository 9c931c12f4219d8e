# TL003: comments that cannot do what they say.

# case: a code cut short
x  # torchlint: ignore[TL21]  # TL003 | says: `TL21` is not a rule, so it suppresses nothing; the nearest known one is `TL2

# case: a code in small letters
x  # torchlint: ignore[tl201]  # TL003 | says: `tl201` is not a rule … `TL201`

# case: one wrong code of two
x  # torchlint: ignore[TL201, TL2]  # TL003 | says: `TL2` is not a rule

# case: a name that is nearly one
x  # torchlint: ignore[item-in-steploop]  # TL003 | says: nearest known one is `item-in-step-loop`

# case: the code of another tool
x  # torchlint: ignore-file[E501]  # TL003 | says: `E501` is not a rule

# case: a bracket that is not closed
x  # torchlint: ignore[TL201  # TL003 | says: not in brackets … `ignore[TL201]`

# case: a misspelt word
x  # torchlint: ignroe[TL201]  # TL003 | says: did you mean `ignore`

# case: a misspelt word without rules
x  # torchlint: ignroe  # TL003 | says: did you mean `ignore`

# case: a word in capitals
x  # torchlint: Ignore  # TL003 | says: did you mean `ignore`

# case: a word that means the same
x  # torchlint: silence[TL201]  # TL003 | says: use `ignore`, `ignore-file`, `disable` or `enable`

# case: an end that is not a day
x  # torchlint: ignore[TL201] until=2027-02-30  # TL003 | says: cannot be read, so nothing is suppressed … `ignore[TL201] until=2027-01-31 -- reason`

# case: an end behind the reason
x  # torchlint: ignore[TL201] -- the log until=2027-01-31  # TL003 | says: cannot be read

# case: an end of the end of a block
# torchlint: disable[TL201]
x
# torchlint: enable[TL201] until=2027-01-31  # TL003 | says: write `until=` in its `disable`

# case: an end
x  # torchlint: ignore[TL201] until=2027-01-31 -- the log

# case: a block that begins behind code
x  # torchlint: disable[TL201]  # TL003 | says: a line of its own between statements

# case: a block that begins between brackets
f(
# torchlint: disable[TL201]  # TL003 | says: a line of its own between statements
)

# case: a block that begins at another indentation
if x:
  # torchlint: disable[TL201]  # TL003 | says: at this indentation
    y

# case: a block without end
# torchlint: disable[TL201]  # TL003 | says: No `enable` with the same rules
x

# case: an end without block
x
# torchlint: enable[TL201]  # TL003 | says: No `disable` with the same rules

# case: rules without brackets
x  # torchlint: ignore TL201  # TL003 | says: The rules are not in brackets, so nothing is suppressed

# case: rules in other brackets
x  # torchlint: ignore(TL201, TL202)  # TL003 | says: write `ignore[TL201]`

# case: a rule behind a colon
x  # torchlint: ignore: tl201  # TL003 | says: The rules are not in brackets

# case: left alone: all rules, and a reason
x  # torchlint: ignore (see the page of TL201)

# case: left alone: all rules
x  # torchlint: ignore

# case: left alone: ALL
x  # torchlint: ignore[ALL]

# case: a code that is too short for one of a run
x  # torchlint: ignore[TR20]  # TL003 | says: `TR20` is not a rule

# case: left alone: a code of a run, which profile knows
x  # torchlint: ignore[TR201, TL201]

# case: left alone: two rules, and a word behind
x  # torchlint: ignore[TL201, item-in-step-loop] TL999

# case: left alone: a reference to a rule
x  # torchlint: see the page of TL201

# case: left alone: an unknown word that is not a suppression
x  # torchlint: none

# case: left alone: a comment for another tool
x  # noqa: TL999

# case: left alone: a string
x = '# torchlint: ignore[TL999]'

# case: left alone: a block with its end
# torchlint: disable[TL201]
x
# torchlint: enable[TL201]

# case: each unknown name is named
x  # torchlint: ignore[TL998, TL999]  # TL003 | says: `TL998` is not a rule … `TL999` is not a rule

# case: of many unknown names, the first twenty are named
x  # torchlint: ignore[TL960, TL961, TL962, TL963, TL964, TL965, TL966, TL967, TL968, TL969, TL970, TL971, TL972, TL973, TL974, TL975, TL976, TL977, TL978, TL979, TL980, TL981, TL982]  # TL003 | says: `TL979` is not a rule … 3 more names in this comment are not rules
