"""Which packages there are: those of torchlint/, and rules/ as torchlint.rules.

All else is in pyproject.toml, which cannot say that two folders make one package.
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["torchlint", "torchlint.*"]),
        *(f"torchlint.{name}" for name in find_packages(include=["rules", "rules.*"])),
    ]
)
