"""Frontends read a model file and return the graph. Each format is a folder with a ``FORMAT``. A
file's first bytes determine the format, or, if they match no format, its suffix.
docs/guides/frontends.md says how to add one.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from microgen.base import memory
from microgen.base.errors import MicrogenError
from microgen.base.pieces import Content
from microgen.frontends import model_files
from microgen.frontends import numerics as profiles
from microgen.frontends.model_format import Format, ModuleFormat, Oracle, Request
from microgen.graph.ir.graph import Graph
from microgen.graph.ops import budget

if TYPE_CHECKING:
    from microgen.relay.module import IRModule

_LARGE = 2**20  # bytes of a model's files that are not kept in memory
_CONVERT = {
    ".h5": "convert it with tf.lite.TFLiteConverter, or to .onnx with tf2onnx",
    ".keras": "convert it with tf.lite.TFLiteConverter, or to .onnx with model.export",
    ".pb": "convert the SavedModel with tf.lite.TFLiteConverter, or to .onnx with tf2onnx",
    ".pt": "export the network with torch.onnx.export(..., dynamo=True) and give the .onnx file",
    ".pth": "export the network with torch.onnx.export(..., dynamo=True) and give the .onnx file",
    ".ort": "give the .onnx model that it was made from",
}

# The end of an archive's name -> the command that unpacks it.
_UNPACK = {
    ".zip": "unzip",
    ".tar": "tar -xf",
    ".tar.gz": "tar -xzf",
    ".tgz": "tar -xzf",
    ".tar.bz2": "tar -xjf",
    ".tar.xz": "tar -xJf",
    ".gz": "gunzip -k",
    ".bz2": "bunzip2 -k",
    ".xz": "unxz -k",
    ".7z": "7z x",
}


@functools.cache
def formats() -> Mapping[str, Format]:
    """Suffix of a model file -> its format, for every folder next to this module, sorted."""
    # Each folder is a format. The modules next to this one are shared by all formats.
    folders = [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]
    known: list[Format] = [
        importlib.import_module(f"{__name__}.{folder}").FORMAT for folder in folders
    ]
    return MappingProxyType({each.suffix: each for each in sorted(known, key=lambda f: f.suffix)})


def load(
    path: Path,
    *,
    numerics: str = "",
    targets: Mapping[int, str] | None = None,
    generators: Collection[str] = (),
    signature: str = "",
    dim: Sequence[str] = (),
    bind: Sequence[str] = (),
    max_rounds: Sequence[str] = (),
    state: Sequence[str] = (),
) -> Graph:
    """The checked graph of the model file at ``path`` under the numerics profile ``numerics``, by
    default the first profile of its format. The other arguments are the fields of ``Request``.
    Raises MicrogenError if there is no such file, profile or suffix, or if the request has options
    that the format lacks, ModelError if the file is malformed, and UnsupportedError if it uses a
    feature that microgen does not have.
    """
    profile = profiles.profile(numerics_of(Path(path), numerics))
    request = Request(profile, targets or {}, generators, signature, dim, bind, max_rounds, state)
    return graph_of(Path(path), request)


def read(path: Path, request: Request) -> tuple[Graph, dict[str, Content]]:
    """The graph of the model file at ``path``, and by suffix the files that a project keeps of it,
    in which the request's ``dim``, ``bind`` and ``state`` are applied. Large files that a project
    keeps as unchanged are read again, piece by piece, when it is written. Raises the errors of
    ``load``.
    """
    graph, kind = graph_of(path, request), _format_of(path)
    unchanged = kind.unchanged(path, request) if _own_bytes(path) >= _LARGE else {}
    if unchanged:
        return graph, {suffix: model_files.pieces(file) for suffix, file in unchanged.items()}
    return graph, {**kind.kept(path, request)}


def graph_of(path: Path, request: Request) -> Graph:
    """The checked graph of the model file at ``path``. Raises the errors of ``load``."""
    _check(path, request)
    with budget.of_model():
        own = _own_bytes(path)
        budget.owns(own)
        if own >= _LARGE:
            memory.return_large_blocks()
        return _format_of(path).load(path, request)


def files(path: Path) -> dict[str, bytes]:
    """The bytes of a model's files by suffix: the file at ``path`` and the files that belong to it.
    Raises MicrogenError for anything but a regular file."""
    return _format_of(path).kept(path, Request())


def stored(path: Path) -> dict[str, bytes]:
    """The bytes of the file at ``path``, and of the files that belong to it, by suffix. They are
    not interpreted yet. Raises MicrogenError for anything but regular files.
    """
    suffix = path.suffix.lower()
    data = {suffix: model_files.read(path)}
    for each in formats().values():
        if each.names(suffix):
            data |= model_files.read_beside(path, each.beside)
    return data


def numerics_of(path: Path, wanted: str = "") -> str:
    """The numerics profile of a model's graph: the wanted profile, or the first profile of its
    format. Raises MicrogenError if the format lacks the wanted profile."""
    known = _format_of(path).profiles
    profiles.profile(wanted or known[0])
    if wanted and wanted not in known:
        raise MicrogenError(
            f"does not round as {wanted!r}: {path.suffix.lower()} models round as "
            f"{' or '.join(known)}",
            where=str(path),
            hint="leave --numerics out",
        )
    return wanted or known[0]


def _check(path: Path, request: Request) -> None:
    """Raise MicrogenError if the request has options that the format of a model lacks."""
    kind = _format_of(path)
    files = f"{kind.suffix} files"
    lacks = {
        "signature": (kind.has_signatures, f"has no signatures: {files} have one network each"),
        "dim": (
            kind.has_open_sizes,
            f"has no open sizes: the inputs of {files} have fixed shapes",
        ),
        "max_rounds": (
            kind.has_loops,
            f"has no loops whose rounds depend on data: {files} cannot have them",
        ),
        "bind": (
            kind.has_open_inputs,
            f"has no parameters: the inputs of {files} cannot become constants",
        ),
        "state": (
            kind.has_states,
            f"has no pairs of outputs and inputs: {files} have operators for their states",
        ),
    }
    for name, (has, what) in lacks.items():
        if getattr(request, name) and not has:
            flag = name.replace("_", "-")
            raise MicrogenError(what, where=str(path), hint=f"leave --{flag} out")


def oracle(path: Path, signature: str = "", profile: str = "") -> Oracle | None:
    """The outside implementation that also runs models of this format, if there is one. If there
    are several, the numerics profile decides.
    """
    return _format_of(path).oracle_of(signature, profile)


def relay_module(path: Path, request: Request) -> IRModule | None:
    """The module of a Relay model, with its types; None for models of other formats. Raises the
    errors of ``load``.
    """
    _check(path, request)
    kind = _format_of(path)
    return kind.module(path) if isinstance(kind, ModuleFormat) else None


def partitioned(path: Path, module: IRModule, request: Request) -> tuple[Graph, dict[str, bytes]]:
    """The graph of a module that was made from the Relay model at ``path``, and the module's files
    by suffix. Raises the errors of ``load``.
    """
    kind = _format_of(path)
    assert isinstance(kind, ModuleFormat), "relay_module has given its module"
    with budget.of_model():
        budget.owns(_own_bytes(path))
        return kind.of_module(module, path.name, request)


def supported() -> dict[str, tuple[str, ...]]:
    """Suffix of a model file -> the operators of that format that are supported."""
    return {suffix: each.operators() for suffix, each in formats().items()}


def about_operators() -> dict[str, list[str]]:
    """Suffix of a model file -> facts about that format's operators, as lines of text."""
    return {suffix: each.about_operators() for suffix, each in formats().items()}


def _own_bytes(path: Path) -> int:
    """The bytes of a model's file and of the files next to it, if they are regular files."""
    others = (path.with_suffix(suffix) for suffix in _format_of(path).beside)
    return sum(each.stat().st_size for each in (path, *others) if each.is_file())


def _format_of(path: Path) -> Format:
    """The format of the file's content, or else of its suffix. Raises MicrogenError for a
    directory, an archive or an unknown suffix."""
    if path.is_dir():
        raise MicrogenError(
            "is a directory",
            where=str(path),
            hint="give a .tflite file; tf.lite.TFLiteConverter converts a SavedModel to one",
        )
    # Protobuf has no magic number, so only the suffix can tell that a file is an ONNX model.
    head, suffix = model_files.head(path), path.suffix.lower()
    for each in formats().values():
        if each.holds(head):
            return each
    for each in formats().values():
        if each.names(suffix):
            return each
    raise _unread(path, suffix)


def _unread(path: Path, suffix: str) -> MicrogenError:
    """The error for a file that no frontend reads."""
    # Names are compared, because pathlib's suffix of a.tar.gz is only .gz. For the same reason
    # .tar.gz comes before .gz in the table.
    for end, command in _UNPACK.items():
        if path.name.lower().endswith(end):
            return MicrogenError(
                "is an archive",
                where=str(path),
                hint=f"type `{command} {shlex.quote(str(path))}` and give the model in it",
            )
    known = ", ".join(formats())
    return MicrogenError(
        f"has the suffix {path.suffix!r}, which no frontend reads",
        where=str(path),
        hint=_CONVERT.get(suffix, f"give a model file that ends in {known}"),
    )
