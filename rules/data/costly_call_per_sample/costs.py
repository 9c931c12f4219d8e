"""Calls that cost far more than reading a sample, by the name of what they call."""

import re
from functools import cache
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.steps.guards import snake
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Module, Tier, because

from .._tokenizers import tokenizes


class Costly(NamedTuple):
    """What a call does for every sample, and what to do instead."""

    does: str
    instead: str
    tier: Tier = Tier.HINT


_PROCESS = Costly("starts a process", "call a library, or do it once before training", Tier.DEFAULT)
_LOADED = Costly("loads a model", "load it in `__init__`", Tier.DEFAULT)
_COLLECTS = Costly("goes over all objects of the process", "remove it", Tier.DEFAULT)
_SOUND = Costly(
    "computes features of a sound on the CPU",
    "keep what is the same in each epoch, or compute it for the batch on the GPU",
)
_RESAMPLED = Costly("decodes and resamples a sound", "resample the files once, before training")
_COPIED = Costly("copies all that it reaches", "copy what changes")
_PARSED = Costly("parses numbers from text", "convert the files once, to `.npy` or the like")
_VIDEO = Costly("opens and decodes a video", "decode only the frames that are used")
_VOLUME = Costly(
    "reads and unpacks a whole image of medicine",
    "keep it in memory, or as an array that `np.load(…, mmap_mode='r')` reads in part",
)
_FILTERED = Costly(
    "filters an image on the CPU", "do it once, before training, or for the batch on the GPU"
)
_STRUCTURE = Costly("computes a graph, a tree or a fit", "compute it once, and keep it in a file")
_WORDS = Costly("takes a text apart", "do it once, before training")
TOKENS = Costly("tokenizes a text", "tokenize the texts once, before training")
_NETWORK = Costly("asks the network", "download before training")
_POOL = Costly("starts a pool of threads or processes", "keep one for each worker of the loader")
_FOLDER = Costly("lists a folder", "list it once in `__init__`")
_TABLE = Costly("builds a table of pandas", "keep the columns as arrays")
_KEYS = Costly("makes a list of all keys", "make it once in `__init__`")
MODEL = Costly(
    "runs a model", "keep its results in a file, or run it for the batch in the training process"
)
_SHUFFLED = Costly("shuffles all of its population", "use `np.random.default_rng().choice`")
READS = (_PARSED, _FOLDER)
_MANY = 100_000
_CHOICE = "numpy.random.choice"

_BY_NAME = (
    (_PROCESS, "subprocess.", "os.system", "os.popen", "ffmpeg.run", "asyncio.create_subprocess",
     "pydub.AudioSegment.from_file", "pydub.AudioSegment.from_mp3"),
    (_LOADED, "torch.hub.load", "whisper.load_model", "spacy.load",
     "sentencepiece.SentencePieceProc"),
    (_COLLECTS, "gc.collect"),
    (_NETWORK, "requests.", "urllib.request.", "httpx.", "wget.download", "huggingface_hub."),
    (_POOL, "concurrent.futures.ThreadPool", "concurrent.futures.ProcessPool",
     "multiprocessing.Pool", "multiprocessing.pool."),
    (_SOUND, "librosa.feature.", "librosa.stft", "librosa.cqt", "librosa.pyin", "librosa.yin",
     "librosa.effects.", "librosa.resample", "pyworld.", "torch.stft", "torchaudio.compliance.",
     "torchaudio.functional.resample", "torchaudio.functional.spectrogram",
     "torchaudio.transforms.", "torchaudio.sox_effects.", "python_speech_features.",
     "parselmouth.", "pyloudnorm.", "noisereduce.", "scipy.signal."),
    (_COPIED, "copy.deepcopy"),
    (_PARSED, "numpy.loadtxt", "numpy.genfromtxt", "pandas.read_csv", "pandas.read_table",
     "pandas.read_excel", "pandas.read_json"),
    (_TABLE, "pandas.DataFrame", "pandas.concat", "pandas.merge"),
    (_VIDEO, "cv2.VideoCapture", "decord.VideoReader", "av.open", "torchvision.io.read_video",
     "torchvision.io.VideoReader", "imageio.get_reader", "imageio.mimread", "moviepy."),
    (_VOLUME, "nibabel.load", "SimpleITK.ReadImage", "nrrd.read", "pydicom.dcmread",
     "pydicom.read_file", "itk.imread", "medpy.io.load", "openslide.OpenSlide"),
    (_FILTERED, "scipy.ndimage.", "skimage.transform.", "skimage.segmentation.",
     "skimage.measure.", "skimage.morphology.", "skimage.filters.", "skimage.exposure.",
     "skimage.restoration."),
    (_STRUCTURE, "scipy.spatial.cKDTree", "scipy.spatial.KDTree", "scipy.spatial.distance",
     "scipy.spatial.Delaunay", "scipy.spatial.ConvexHull", "scipy.interpolate.",
     "scipy.optimize.", "scipy.linalg.", "scipy.sparse.linalg.", "sklearn.neighbors.",
     "sklearn.cluster.", "sklearn.decomposition.", "open3d.", "trimesh.", "networkx.", "rdkit.",
     "torch_cluster.", "torch_geometric.nn.knn", "torch_geometric.nn.radius",
     "torch_geometric.nn.fps", "numpy.linalg.svd", "numpy.linalg.eig"),
    (_WORDS, "nltk.", "jieba.", "phonemizer.", "pyopenjtalk."),
    (_FOLDER, "os.listdir", "os.walk", "os.scandir", "glob."),
)  # fmt: skip
_SOUND_WORDS = re.compile(
    r"^_*(?:(?:compute|extract|calc|wav2|audio2)_*)?(?:log_?)?"
    r"(?:mel_?spec\w{0,30}|melspec\w{0,30}|spectrogram\w{0,12}|stft|mfcc|fbank)$"
)
_MODEL_METHODS = frozenset(
    {"encode_text", "encode_image", "get_image_features", "get_text_features", "extract_features"}
)


@cache
def _by_package() -> dict[str, list[tuple[str, Costly]]]:
    found: dict[str, list[tuple[str, Costly]]] = {}
    for cost, *names in _BY_NAME:
        for name in names:
            found.setdefault(name.partition(".")[0], []).append((name, cost))
    return found


def cost_of(call: cst.Call, module: Module) -> Costly | None:
    """What a call costs, if that is known to be much."""
    names = module.resolve(call.func)
    for name in names:
        for start, cost in _by_package().get(name.partition(".")[0], ()):
            if name.startswith(start):
                return cost
        if name == "librosa.load":
            same = module.literal(module.argument(call, "sr", 1)) is None
            same = same and module.argument(call, "sr", 1) is not None
            return because(None, "it keeps the rate of the file") if same else _RESAMPLED
        if name == "builtins.list" and _lists_keys(call):
            return _KEYS
    if _CHOICE in names:
        return _choice(call, module)
    method = method_name(call)
    if method == "from_pretrained":
        return _LOADED
    if method == "run" and _is_of_ffmpeg(call, module):
        return _PROCESS
    return _by_word(call, method, module) if not names else None


def _by_word(call: cst.Call, method: str, module: Module) -> Costly | None:
    """What the method of an object costs that this file does not define."""
    if module.definitions.callee(call) is not None:
        return None
    if method in _MODEL_METHODS:
        return MODEL
    if _SOUND_WORDS.search(snake(method)) and call.args:
        return _SOUND
    if _is_kept_transform(call, module):
        return _SOUND
    return TOKENS if tokenizes(call) else None


def _is_kept_transform(call: cst.Call, module: Module) -> bool:
    """`self.mel(wave)` with `self.mel = torchaudio.transforms.MelSpectrogram(rate)`."""
    func = call.func
    if not isinstance(func, cst.Attribute) or dotted_text(func.value) != "self":
        return False
    return any(
        isinstance(each.value, cst.Call)
        and any(
            name.startswith("torchaudio.transforms.") for name in module.resolve(each.value.func)
        )
        for each in module.values.assigned(module.class_(call), func.attr.value)
    )


def _lists_keys(call: cst.Call) -> bool:
    """`list(self.samples.keys())`."""
    listed = call.args[0].value if len(call.args) == 1 else None
    if not isinstance(listed, cst.Call) or not dotted_text(listed.func).startswith("self."):
        return False
    return method_name(listed) in ("keys", "items", "values")


def _is_of_ffmpeg(call: cst.Call, module: Module) -> bool:
    """`ffmpeg.input(file).output("-").run()`."""
    made = receiver(call)
    while isinstance(made, cst.Call):
        if any(name.startswith("ffmpeg.") for name in module.resolve(made.func)):
            return True
        made = receiver(made)
    return False


def _choice(call: cst.Call, module: Module) -> Costly | None:
    if module.literal(module.argument(call, "replace", 2)) is not False:
        return because(None, "with replacement it draws only as many as it gives")
    if module.argument(call, "p", 3) is not None:
        return because(None, "with probabilities it costs the same elsewhere")
    size = module.literal(module.argument(call, "a", 0))
    many = isinstance(size, int) and size >= _MANY
    return _SHUFFLED._replace(tier=Tier.DEFAULT) if many else _SHUFFLED
