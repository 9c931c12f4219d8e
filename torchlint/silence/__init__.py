"""What hides a finding, and what hides nothing.

- A comment in the file (`Suppressions`), while the file is checked. One with an end leaves its day
  on the finding, so that a cached result does not depend on the day.
- `per-file-ignores` of the configuration (`off_for`): the rule is not run on the file.
- Its tier, or a comment that has not ended today (`choose`), in every list of findings.
- An entry of a baseline (`Baselines.hide`), in `check` and for assistants.

`torchlint suppressions` lists all of them (`listed`), with what is unused.
"""
