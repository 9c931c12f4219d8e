"""Libraries that return NumPy arrays: OpenCV, SciPy, librosa and others."""

from __future__ import annotations

from torchlint.analysis.values.kinds import Kind, Value

_LAZY = ("scipy.interpolate.",)
_IMAGES = frozenset(
    {"imread", "imdecode", "resize", "cvtColor", "GaussianBlur", "medianBlur", "blur",
     "warpAffine", "warpPerspective", "remap", "copyMakeBorder", "flip", "rotate", "filter2D",
     "addWeighted", "dilate", "erode", "equalizeHist", "bitwise_and", "bitwise_or",
     "bitwise_not", "absdiff", "LUT", "Canny", "Sobel"}
)  # fmt: skip
_OTHER_LIBRARIES = {
    "cv2": _IMAGES,
    "imageio": frozenset({"imread", "v2.imread", "v3.imread"}),
    "skimage": frozenset({"io.imread", "transform.resize", "color.rgb2gray", "img_as_float"}),
    "scipy": frozenset(
        {"misc.imread", "misc.imresize", "ndimage.zoom", "ndimage.rotate", "ndimage.convolve",
         "ndimage.map_coordinates", "ndimage.gaussian_filter", "signal.lfilter", "special.softmax",
         "special.expit", "ndimage.distance_transform_edt"}
    ),
    "librosa": frozenset(
        {"stft", "istft", "resample", "amplitude_to_db", "power_to_db", "feature.melspectrogram",
         "feature.mfcc", "effects.time_stretch", "effects.pitch_shift", "filters.mel"}
    ),
    "tifffile": frozenset({"imread"}),
    "PIL": frozenset(),
}  # fmt: skip
_WITH_NUMBERS = {
    "librosa.load": 0,
    "librosa.core.load": 0,
    "librosa.magphase": 0,
    "soundfile.read": 0,
    "scipy.io.wavfile.read": 1,
}
"""Return an array and something else; the index of the array."""


def other_library(name: str) -> Value | None:
    """What a function of OpenCV, SciPy, librosa and the like returns, if it is an array."""
    package, _, rest = name.partition(".")
    library = _OTHER_LIBRARIES.get(package)
    if name in _WITH_NUMBERS:
        return Value(Kind.CONTAINER, element=Value(Kind.FRESH | Kind.SCALAR))
    if name.startswith(_LAZY):
        return Value(Kind.UNKNOWN, classes=(name,))
    if library is None or rest not in library:
        return None
    return Value(Kind.FRESH, dtype="uint8" if name == "cv2.imread" else None)


def array_of_several(name: str) -> int | None:
    """Which of the values that a function of another library returns is the array."""
    return _WITH_NUMBERS.get(name)


def interpolates(value: Value) -> bool:
    """Whether calling the value answers with an array: SciPy's interpolation objects."""
    return any(name.startswith(_LAZY) for name in value.classes)
