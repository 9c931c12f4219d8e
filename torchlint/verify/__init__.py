"""Runs the original and the fixed program, measures both, and says what each fix is worth.

`session` leads through a verification. Imports run one way: `session` > `judge` > `measure`,
`first_look` > `jobs` > `compared` > `plan` > `request` > `result`; `numbers` is next to `judge`.
How a program is run and watched is the knowledge of `torchlint.runtime`.
"""
