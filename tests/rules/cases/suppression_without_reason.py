# TL002: which comments lack a reason, once reasons are required.

# head: reasons are required [require-reason]

# case: one rule
x = 1
# torchlint: ignore[TL201]  # TL002

# case: all rules
x = 1
# torchlint: ignore  # TL002

# case: a file
x = 1
# torchlint: ignore-file[TL201]  # TL002

# case: a block
x = 1
# torchlint: disable[TL201]  # TL002

# case: dashes without words
x = 1
# torchlint: ignore[TL201] --  # TL002

# case: words without dashes
x = 1
# torchlint: ignore[TL201] the log needs it  # TL002

# case: words in another comment
x = 1
# torchlint: ignore[TL201]  # -- the log needs it  # TL002

# case: left alone: a reason
x = 1
# torchlint: ignore[TL201] -- the log needs it

# case: left alone: a reason for a whole file
x = 1
# torchlint: ignore-file -- generated

# case: left alone: a reason and another comment
x = 1
# torchlint: ignore[TL201] -- why  # noqa

# case: left alone: the end of a block
x = 1
# torchlint: enable[TL201]

# case: left alone: a comment for another tool
x = 1
# noqa: TL201

# case: left alone: a misspelt word
x = 1
# torchlint: ignroe[TL201]

# case: left alone: no suppression
x = 1
# torchlint: reads this

# case: words without dashes are pointed out
x = 1  # torchlint: ignore[TL201] the log needs it  # TL002 | says: in front of the reason

# head: reasons are not required

# case: left alone: comments without a reason
x = 1
# torchlint: ignore[TL201]
# torchlint: ignore
# torchlint: ignore-file[TL201]
# torchlint: disable[TL201]
# torchlint: ignore[TL201] --
# torchlint: ignore[TL201] the log needs it
# torchlint: ignore[TL201]  # -- the log needs it
