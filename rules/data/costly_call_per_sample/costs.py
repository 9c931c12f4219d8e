"""Calls that cost far more than reading a sample, by the name of what they call."""

import re
from collections.abc import Iterable
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
    Tier.DEFAULT,
)
_RESAMPLED = Costly(
    "decodes and resamples a sound", "resample the files once, before training", Tier.DEFAULT
)
_COPIED = Costly("copies all that it reaches", "copy what changes")
_PARSED = Costly(
    "parses numbers from text", "convert the files once, to `.npy` or the like", Tier.DEFAULT
)
_VIDEO = Costly("opens and decodes a video", "decode only the frames that are used")
_FRAMES = Costly(
    "decodes frames of a video on the CPU",
    "keep the clips scaled to the size that is used, or decode on the GPU",
)
_ONE_BY_ONE = Costly(
    "changes the frames of a video one by one on the CPU",
    "join them to one tensor of bytes first, and change that, or the batch on the GPU",
)
_SCALED = Costly("scales floats on the CPU", "scale the batch on the GPU")
_OPENED = Costly(
    "opens a file of many arrays",
    "keep it open in each worker, or its arrays in files of their own",
)
OBJECTS = Costly(
    "makes Python objects of a whole file",
    "read all of them once in `__init__`, or keep what is needed in arrays",
)
_NUMBERS = Costly(
    "makes a tensor of a list of a table, number by number",
    "let the table give arrays (`set_format('torch')`), or keep arrays in files",
)
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
_NETWORK = Costly("asks the network", "download before training", Tier.DEFAULT)
_POOL = Costly(
    "starts a pool of threads or processes", "keep one for each worker of the loader", Tier.DEFAULT
)
_FOLDER = Costly("lists a folder", "list it once in `__init__`")
_TABLE = Costly("builds a table of pandas", "keep the columns as arrays")
_KEYS = Costly("makes a list of all keys", "make it once in `__init__`")
MODEL = Costly(
    "runs a model", "keep its results in a file, or run it for the batch in the training process"
)
_SHUFFLED = Costly("shuffles all of its population", "use `np.random.default_rng().choice`")
READS = (_PARSED, _FOLDER, _OPENED, OBJECTS)
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
    (_SCALED, "torch.nn.functional.interpolate", "torch.nn.functional.upsample",
     "torch.nn.functional.grid_sample"),
    (_OPENED, "h5py.File", "zarr.open", "netCDF4.Dataset", "xarray.open_", "lmdb.open",
     "zipfile.ZipFile", "tarfile.open", "tables.open_file"),
    (OBJECTS, "pickle.load", "joblib.load", "dill.load", "json.load", "yaml.load",
     "yaml.safe_load", "xml.etree.ElementTree.parse", "lxml.etree.parse"),
    (_FOLDER, "os.listdir", "os.walk", "os.scandir", "glob."),
)  # fmt: skip
_CHEAP = ("open3d.geometry.PointCloud", "open3d.geometry.TriangleMesh")
_SOUND_WORDS = re.compile(
    r"^_*(?:(?:compute|extract|calc|wav2|audio2)_*)?(?:log_?)?"
    r"(?:mel_?spec\w{0,30}|melspec\w{0,30}|spectrogram\w{0,12}|stft|mfcc|fbank)$"
)
_VIDEO_WORDS = re.compile(r"(?:^|[._])(?:vr|videos?|reader|decoder|container)$")
_FRAME_METHODS = frozenset(
    {"get_batch", "get_frames_at", "get_frames_in_range", "get_frames_played_at"}
)
_PICKLED = re.compile(r"^_*(?:load|read)_?(?:pickle|pkl|json|yaml)(?:_file)?$")
_FLOATS = re.compile(
    r"mel|spec|audio|wave?|speech|image|img|pixel|depth|feat|embed|latent|state|action|signal"
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
    if _is_of_one_frame(call, names, module):
        return _ONE_BY_ONE
    for name in names:
        if name in _CHEAP:
            return None
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
    if "torch.tensor" in names:
        return _NUMBERS if _is_list_of_table(call, module) else None
    method = method_name(call)
    if method == "from_pretrained":
        return _LOADED
    if method == "run" and _is_of_ffmpeg(call, module):
        return _PROCESS
    if _PICKLED.search(method or dotted_text(call.func)) and not _is_own(names):
        return OBJECTS
    return _by_word(call, method, module) if not names else None


def _is_own(names: Iterable[str]) -> bool:
    """Whether the file defines what it calls, so that the calls there are looked at."""
    return any(name.startswith(":") for name in names)


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
    if method in _FRAME_METHODS and _VIDEO_WORDS.search(dotted_text(receiver(call))):
        return _FRAMES
    return TOKENS if tokenizes(call) else None


def _is_kept_transform(
    call: cst.Call, module: Module, library: str = "torchaudio.transforms."
) -> bool:
    """`self.mel(wave)` with `self.mel = torchaudio.transforms.MelSpectrogram(rate)`, and
    `self.resamplers[rate](wave)` with such items."""
    func = call.func
    made: list[cst.BaseExpression | None] = []
    if isinstance(func, cst.Subscript) and isinstance(func.value, cst.Attribute):
        made = _items_of(func.value.attr.value, module)
    elif isinstance(func, cst.Attribute) and dotted_text(func.value) == "self":
        kept = module.values.assigned(module.class_(call), func.attr.value)
        made = [each.value for each in kept]
    return any(
        isinstance(each, cst.Call)
        and any(name.startswith(library) for name in module.resolve(each.func))
        for each in made
    )


def _items_of(name: str, module: Module) -> list[cst.BaseExpression | None]:
    """What the items of an attribute are set to: `self.resamplers[rate] = …`."""
    found: list[cst.BaseExpression | None] = []
    for each in module.spelled(name):
        item = module.parent(module.parent(each) or each)
        target = module.parent(item) if isinstance(item, cst.Subscript) else None
        assign = module.parent(target) if isinstance(target, cst.AssignTarget) else None
        if isinstance(assign, cst.Assign):
            found.append(assign.value)
    return found


def _is_of_one_frame(call: cst.Call, names: tuple[str, ...], module: Module) -> bool:
    """Whether a call scales or transforms each of several images: `[each.resize(size) for each in
    frames]`, `[ToTensor()(each) for each in frames]`, `[self.worker(each) for each in frames]`."""
    listed = module.parent(call)
    if not isinstance(listed, cst.ListComp) or not isinstance(listed.for_in.target, cst.Name):
        return False
    if isinstance(listed.for_in.iter, cst.List | cst.Tuple):
        return False
    given = [each.value for each in call.args[:1]]
    if method_name(call) == "resize" and not names:
        given = [receiver(call)]
    if not given or dotted_text(given[0]) != listed.for_in.target.value:
        return False
    if isinstance(call.func, cst.Call):
        made = module.resolve(call.func.func)
        return any(name.startswith("torchvision.transforms.") for name in made)
    if any(name in ("cv2.resize", "skimage.transform.resize") for name in names):
        return True
    if method_name(call) == "resize" and not names:
        return True
    return _is_kept_transform(call, module, "torchvision.transforms.")


def _is_list_of_table(call: cst.Call, module: Module) -> bool:
    """`torch.tensor(row["mel"])` of `row = self.table[index]`."""
    given = call.args[0].value if call.args else None
    if not isinstance(given, cst.Subscript) or not isinstance(given.value, cst.Name):
        return False
    index = given.slice[0].slice
    key = module.literal(index.value) if isinstance(index, cst.Index) else None
    if not isinstance(key, str) or not _FLOATS.search(key):
        return False
    rows = [each.value for each in module.flow.reaching(given.value)]
    return bool(rows) and all(
        isinstance(each, cst.Subscript)
        and isinstance(each.value, cst.Attribute)
        and dotted_text(each.value).startswith("self.")
        for each in rows
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
