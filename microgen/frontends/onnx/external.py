"""Data that a model keeps in files next to it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from onnx import ModelProto, TensorProto

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.frontends import model_files
from microgen.frontends.onnx import types

_MOST_BYTES = 2**31 - 1  # of a protobuf message


def embed(model: ModelProto, path: Path) -> bool:
    """Put the external data of the model at ``path`` into the model. Returns whether there is
    external data.

    Raises ModelError for data outside of the model's folder, and for sizes that do not agree, and
    MicrogenError if a file is missing.
    """
    stored = (each for each in types.messages(model) if isinstance(each, TensorProto))
    tensors = [each for each in stored if each.data_location == TensorProto.EXTERNAL]
    total = 0
    for tensor in tensors:
        where = f'{path.name}: the tensor "{short(tensor.name)}"'
        total += types.stored_bytes(tensor, where)
        # A project keeps the model with its data in one protobuf message (``Format.kept``).
        if total > _MOST_BYTES:
            raise UnsupportedError(
                f"the external data has more than {_MOST_BYTES} bytes", where=path.name
            )
        tensor.raw_data = _data(tensor, path.parent, where)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
    return bool(tensors)


def _data(tensor: TensorProto, folder: Path, where: str) -> bytes:
    """The bytes of a tensor, from its file."""
    entries = {each.key: each.value for each in tensor.external_data}
    wanted = types.stored_bytes(tensor, where)
    # Both are optional in ONNX: by default the data is the whole file.
    offset = _number(entries.get("offset", "0"), "offset", where)
    length = _number(entries.get("length", str(wanted)), "length", where)
    if length != wanted:
        raise ModelError(f"has {length} bytes of external data, not {wanted}", where=where)
    file = _file(entries.get("location", ""), folder, where)
    if not file.exists():
        raise ModelError(
            f"has its values in the file {short(file.name)!r}, which is not next to the model",
            where=where,
            hint="that file holds the weights: copy it into the model's folder, or save the model "
            "in one file with onnx.save(onnx.load(MODEL), FILE)",
        )
    has = model_files.size(file)
    if offset + length > has:
        raise ModelError(
            f'needs the bytes {offset} to {offset + length} of "{short(file.name)}", which has '
            f"{has}",
            where=where,
            hint="copy the whole file next to the model",
        )
    return model_files.part(file, offset, length)


def _number(text: str, what: str, where: str) -> int:
    # 19 digits are enough for every int64, and int() takes long for very many.
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ModelError(f"has the {what} {short(text)!r} of external data", where=where)
    return int(text)


def _file(location: str, folder: Path, where: str) -> Path:
    """The file with external data, which is in the model's folder even if links are followed."""
    # A model that was saved on Windows may have backslashes between folders.
    relative = PurePosixPath(location.replace("\\", "/"))
    is_sound = bool(location) and not relative.is_absolute() and ".." not in relative.parts
    try:
        path = (folder / relative).resolve()
        if is_sound and path.is_relative_to(folder.resolve()):
            return path
    except (OSError, ValueError, RuntimeError):  # a null character, a loop of links
        pass
    raise ModelError(
        f"has its data in {short(location)!r}, which is not in the model's folder",
        where=where,
        hint="put the file next to the model and save the model with its name alone",
    )
