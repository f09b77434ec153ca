"""Recognizes files that are not TFLite models, so that the message can give advice."""

from __future__ import annotations

from microgen.base.errors import ModelError

IDENTIFIER = b"TFL3"
_CONVERT = "convert it to .tflite with tf.lite.TFLiteConverter and full-integer quantization"

_MAGIC = (
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (a Keras .h5 model?)", _CONVERT),
    (b"PK\x03\x04", "a zip archive (a .keras model or a zipped SavedModel?)", _CONVERT),
    (b"\x1f\x8b", "a gzip archive", "unpack it with `gunzip <FILE >model.tflite`"),
    (b"\x7fELF", "an ELF program", "give the .tflite file, not the firmware"),
    (b"version https://git-lfs", "a Git LFS pointer, not the model", "run git lfs pull"),
)


def check(data: bytes, file: str) -> None:
    """Raise ModelError unless ``data`` begins like a TFLite flatbuffer."""
    if not data:
        raise ModelError("is empty", where=file, hint="give a .tflite model")
    if data[4:8] == IDENTIFIER:
        return
    for magic, kind, hint in _MAGIC:
        if data.startswith(magic):
            raise ModelError(f"is not a TFLite model but {kind}", where=file, hint=hint)
    raise _unknown(data, file)


def _unknown(data: bytes, file: str) -> ModelError:
    if len(data) < 8:
        description, hint = f"has only {len(data)} bytes", "get the model file again"
    elif _is_onnx(data):
        description, hint = "looks like an ONNX model", "give the file the suffix .onnx"
    # A flatbuffer, too, with an identifier of its own.
    elif data[4:8] == b"ORTM":
        description = "is a model in ONNX Runtime's own format"
        hint = "give the .onnx file that was converted to .ort"
    elif _is_text(data):
        description, hint = "is a text file", "give the .tflite file itself"
    else:
        description = f"has the identifier {data[4:8]!r}; {IDENTIFIER!r} is expected"
        hint = "give a .tflite model of schema version 3"
    return ModelError(f"is not a TFLite model: it {description}", where=file, hint=hint)


def _is_onnx(data: bytes) -> bool:
    """Whether the bytes are a protobuf whose first field is ONNX's ir_version, followed by the
    producer's name."""
    # The byte before a value has the field's number and the kind of the value: 0x08 is field 1, a
    # number; 0x12 is field 2 and 0x3A field 7, each with a length.
    return data[0] == 0x08 and 0 < data[1] < 32 and data[2] in (0x12, 0x3A)


def _is_text(data: bytes) -> bool:
    return all(32 <= byte < 127 or byte in b"\t\r\n" for byte in data[:512])
