"""Frontends: from a model file to the graph. The file's suffix picks the reader."""

from __future__ import annotations

import importlib
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from microgen.errors import MicrogenError
from microgen.frontends import numerics as profiles
from microgen.ir.graph import Graph
from microgen.ops import budget

if TYPE_CHECKING:
    from microgen.relay.module import IRModule

# Imported on demand, so that a command without a model pays for no schema package.
_BY_SUFFIX = {".tflite": "microgen.frontends.tflite", ".relay": "microgen.frontends.relay"}

# Of a format whose model may have a second file beside the first: its suffix.
_BESIDE = {".relay": ".params"}

_CONVERT = {
    ".onnx": "convert it to int8 .tflite first (onnx2tf does that)",
    ".h5": "convert it with tf.lite.TFLiteConverter and full-integer quantization",
    ".keras": "convert it with tf.lite.TFLiteConverter and full-integer quantization",
    ".pb": "convert the SavedModel with tf.lite.TFLiteConverter and full-integer quantization",
    ".pt": "convert it with ai-edge-torch and full-integer quantization",
}

# Offsets in a flatbuffer are 32 bits wide and signed where they point back.
_MAX_FILE_BYTES = 2**31 - 1


@budget.of_model()
def load(
    path: Path,
    *,
    numerics: str = "litert",
    targets: Mapping[int, str] | None = None,
    generators: Collection[str] = (),
) -> Graph:
    """The graph of the model file at ``path``, checked, under the numerics profile named.

    ``targets``, of formats whose models name devices: device type -> kind of the target for it.
    ``generators``, of formats whose models may have been partitioned: the names of the code
    generators whose functions are one node each.

    Raises MicrogenError when there is no such file, profile or suffix, ModelError when the file
    is malformed, and UnsupportedError when it asks for what microgen does not have.
    """
    profile = profiles.profile(numerics)
    path = Path(path)
    module = _BY_SUFFIX.get(path.suffix.lower())
    if path.is_dir():
        raise MicrogenError(
            "is a directory",
            where=str(path),
            hint="give a .tflite file; a SavedModel is converted with tf.lite.TFLiteConverter",
        )
    if module is None:
        raise _unknown_suffix(path)
    data = files(path)
    frontend = importlib.import_module(module)
    graph: Graph = (
        frontend.load(path, targets=targets or {}, generators=generators)
        if path.suffix.lower() in _BESIDE
        else frontend.load(data[path.suffix.lower()], file=path.name, numerics=profile)
    )
    return graph


def is_relay(path: Path) -> bool:
    """Whether a model is a Relay module."""
    return path.suffix.lower() == ".relay"


def relay_module(path: Path) -> IRModule:
    """The module of a Relay model, with its types. Raises what ``load`` raises."""
    from microgen.frontends import relay

    files(path)  # which refuses what is no file
    return relay.read(path)


@budget.of_model()
def partitioned(
    path: Path, module: IRModule, *, targets: Mapping[int, str], generators: Collection[str]
) -> tuple[Graph, dict[str, bytes]]:
    """The graph of a module that was made of the model at ``path``, and the module's files by
    suffix. Raises what ``load`` raises."""
    from microgen.frontends import relay

    graph = relay.from_module(module, file=path.name, targets=targets, generators=generators)
    return graph, relay.dumps(module)


def files(path: Path) -> dict[str, bytes]:
    """The bytes of a model's files by suffix: of the one at ``path``, and of one that belongs
    beside it. Raises MicrogenError for what is no regular file."""
    suffix = path.suffix.lower()
    found = {suffix: _read(path)}
    beside = path.with_suffix(_BESIDE[suffix]) if suffix in _BESIDE else None
    return {**found, _BESIDE[suffix]: _read(beside)} if beside and beside.exists() else found


def _unknown_suffix(path: Path) -> MicrogenError:
    known = ", ".join(sorted(_BY_SUFFIX))
    return MicrogenError(
        f"has the suffix {path.suffix!r}, which no frontend reads",
        where=str(path),
        hint=_CONVERT.get(path.suffix.lower(), f"give a model file that ends in {known}"),
    )


def _read(path: Path) -> bytes:
    """The file's bytes. Only a regular file is opened: a pipe or a device might never end."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise MicrogenError("is not a regular file", where=str(path), hint="give a model file")
        if status.st_size > _MAX_FILE_BYTES:
            raise MicrogenError(
                f"has {status.st_size} bytes; a model file has at most {_MAX_FILE_BYTES}",
                where=str(path),
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise MicrogenError("no such file", where=str(path), hint="check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise MicrogenError(
            f"cannot be read: {reason}", where=str(path), hint="check the path and its permissions"
        ) from None


def tensor_names(path: Path) -> tuple[str, ...]:
    """The graph's name of every tensor of a model file, in the file's order."""
    module = importlib.import_module(_BY_SUFFIX[path.suffix.lower()])
    names: tuple[str, ...] = module.tensor_names(_read(path), file=path.name)
    return names


def supported() -> dict[str, tuple[str, ...]]:
    """Suffix of a model file -> the operators of that format that are supported."""
    return {
        suffix: importlib.import_module(module).supported() for suffix, module in _BY_SUFFIX.items()
    }
