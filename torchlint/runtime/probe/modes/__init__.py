"""The ways to watch a script; `Settings.mode` names one of these modules."""
