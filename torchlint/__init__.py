"""torchlint reads PyTorch training code, says what makes it slow and fixes it."""

import os

__version__ = "0.1.0"

_HERE = os.path.dirname(__file__)
if not os.path.isdir(os.path.join(_HERE, "rules")):
    # In a checkout the built-in rules lie beside this package; a wheel has them inside.
    __path__.append(os.path.dirname(_HERE))
