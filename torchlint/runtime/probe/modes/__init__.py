"""The ways to watch a script; `RunSettings.mode` names one of these modules."""
