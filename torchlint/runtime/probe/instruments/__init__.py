"""What can be seen in a window of steps: one file for each kind of thing.

An instrument is a module with `install(settings)`, called before the script runs, which returns an
object with these methods (`modes.window.Instrument`):

- `begin()`: the window begins, on the thread that takes the steps;
- `step()`: a step of the window has ended;
- `end()`: the window has ended: undo what was done, and return what was seen, as plain values that
  JSON can hold. Places in the user's code are `[path, row]`, as `Places.here()` gives them.

Between `begin` and `end` an instrument may cost something. Outside it must cost nothing that
counts, since it may share a run with others.
"""
