"""Runs a user's script, watches it, and leaves nothing behind. Knows nothing of what it is for.

What a command needs of it:

- `program`: the script or module that is run.
- `workspace.Workspace`: a temporary folder and all processes of the runs in it.
- `probe.run_settings.RunSettings` and `run.Job`: what one run does, and what starts it
  (`launchers`).
- `run.Run`: a run that is under way; `failures.Failed` says why it did not do its part.
- `sandbox`: `overlayfs.available` says how the project's files are kept as they are, and
  `side_effects.collect` what the runs did.
- `survey_reader`: where the script's steps end, how long they take, when it is warm.

The script runs under `probe`, in a process of its own: the standard library and torch alone. A
mode says what the probe watches. A new mode is

1. a module in `probe/modes/`, whose name `RunSettings.mode` gives, with `install(settings, link)`.
   It returns an object with `steps` and `finish()` (`probe.lifecycle.Mode`), and sends messages,
   dicts with a `type`, through the link;
2. its options, if it has any, as fields of `RunSettings` with a default;
3. a function on the parent's side that starts a `Run`, reads those messages with
   `messages.Message`, answers with `Run.send` where the mode asks, and returns plain data.
   `survey.survey` is one to copy.

In the mode `PLAIN` the script just runs.
"""
