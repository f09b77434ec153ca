"""frontends.load: which file is read, and what is said of a file that is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from microgen import frontends
from microgen.base.errors import MicrogenError, ModelError


def refusal(path: Path, kind: type[MicrogenError] = MicrogenError) -> str:
    with pytest.raises(kind) as caught:
        frontends.load(path)
    return str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone.tflite"
    assert refusal(path) == f"{path}: no such file; check the path"


def test_a_directory_is_refused_with_a_hint_for_saved_models(tmp_path: Path) -> None:
    assert refusal(tmp_path) == (
        f"{tmp_path}: is a directory; give a .tflite file; tf.lite.TFLiteConverter converts a "
        "SavedModel to one"
    )


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.tflite"
    os.mkfifo(path)
    assert refusal(path) == f"{path}: is not a regular file; give a model file"


def test_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path) -> bytes:  # permissions do not bind root, so the refusal is staged
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secret.tflite"
    path.write_bytes(b"x")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert refusal(path) == (
        f"{path}: cannot be read: Permission denied; check the path and its permissions"
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("m.h5", "convert it with tf.lite.TFLiteConverter, or to .onnx with tf2onnx"),
        (
            "m.pt",
            "export the network with torch.onnx.export(..., dynamo=True) and give the .onnx file",
        ),
        ("m.txt", "give a model file that ends in .onnx, .relay, .tflite"),
    ],
)
def test_an_unknown_suffix_says_what_to_do(name: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / name
    suffix = path.suffix
    assert refusal(path) == f"{path}: has the suffix {suffix!r}, which no frontend reads; {hint}"


def test_an_unknown_profile_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(MicrogenError) as caught:
        frontends.load(tmp_path / "m.tflite", numerics="exact")
    said = "there is no numerics profile 'exact'; choose one of litert, onnx, tflm"
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty; give a .tflite model"),
        (b"TFL", "is not a TFLite model: it has only 3 bytes; get the model file again"),
        (
            b"\x08\x07\x12\x07pytorch\x1a",
            "is not a TFLite model: it looks like an ONNX model; give the file the suffix .onnx",
        ),
        (
            b"\x89HDF\r\n\x1a\n\0\0",
            "is not a TFLite model but an HDF5 file (a Keras .h5 model?); convert it to .tflite "
            "with tf.lite.TFLiteConverter and full-integer quantization",
        ),
        (
            b"PK\x03\x04\x14\0\0\0\0\0",
            "is not a TFLite model but a zip archive (a .keras model or a zipped SavedModel?); "
            "convert it to .tflite with tf.lite.TFLiteConverter and full-integer quantization",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "is not a TFLite model but a Git LFS pointer, not the model; run git lfs pull",
        ),
        (
            b"hello, world\n",
            "is not a TFLite model: it is a text file; give the .tflite file itself",
        ),
        (
            b"\x1c\0\0\0TFL1\0\0\0\0",
            "is not a TFLite model: it has the identifier b'TFL1'; b'TFL3' is expected; "
            "give a .tflite model of schema version 3",
        ),
    ],
)
def test_a_file_of_another_kind_is_recognised(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    assert refusal(path, ModelError) == f"m.tflite: {said}"


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "M.TFLITE"
    path.write_bytes(b"")
    assert refusal(path, ModelError) == "M.TFLITE: is empty; give a .tflite model"
