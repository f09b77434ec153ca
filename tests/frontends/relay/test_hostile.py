"""Hostile .relay files: firmware, or one line and exit code 2; never a crash, and soon."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import relay
from microgen.base.errors import MicrogenError
from microgen.interface.cli import main
from microgen.relay import IRModule
from tests.frontends.relay.random_networks import Network
from tests.frontends.relay.test_firmware import ALIASES
from tests.relay.random_modules import random_module
from tests.support.places import SEED_DEMO

Capture = pytest.CaptureFixture[str]
_SECONDS = 20.0  # a sound one takes less than one
_NUMBERS = ("0", "1", "-1", "2", "7", "255", "65536", "2147483647", "-2147483649", "99999999999999")
_WORDS = {
    "float32": ("int8", "int32", "float64", "bool", "uint8", "int16"),
    "nn.relu": ("nn.softmax", "nn.batch_flatten", "logical_not", "qnn.quantize", "copy", "argmax"),
    "add": ("divide", "where", "nn.dense", "nn.conv2d", "take", "equal", "nn.bias_add"),
    "NCHW": ("NHWC", "CHWN", "NCHW4c", "", "NNNN"),
}


def written(folder: Path, text: str) -> Path:
    path = folder / "m.relay"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "def @main"),
        ("\x00\x01\x02", "m.relay:1:1"),
        ("def @main(", "m.relay:1"),
        (ALIASES.replace("tanh", "tnah"), "no operator is named 'tnah'"),
        (ALIASES.replace("%x)", "%z)"), "%z"),
        (ALIASES.replace("tanh(%x)", "if (True) { %x } else { %x }"), "if is not supported."),
        (ALIASES.replace("tanh(%x)", "nn.conv2d(%x, %x)"), "conv2d"),
        (ALIASES.replace("tanh(%x)", "meta[relay.Constant][0]"), "data are missing"),
        ("def @main(%x: Tensor[(1), float32]) {" + "(" * 5000 + "%x" + ")" * 5000 + "}", "nested"),
        ("def @main(%x: Tensor[(1), float32]) { @main(%x) }", "calls itself"),
        ("def @main(%x: Tensor[(30000, 30000), float32]) { nn.relu(%x) }", "bytes"),
        ("def @main(%x: Tensor[(1), float32]) { full(1f, shape=[20000, 20000]) }", "bytes"),
    ],
)
def test_it_is_one_line_and_exit_2(
    text: str, sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    path = written(tmp_path, text)
    arguments = ["generate", str(path), "-b", "native", "-q", "-o", str(tmp_path / "p")]
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("command", ["inspect", "plan", "partition"])
def test_every_command_reads_it(command: str, capsys: Capture) -> None:
    assert main([command, str(SEED_DEMO), "--json"]) == 0
    assert "{" in capsys.readouterr().out


@pytest.mark.parametrize(
    "data", [b"", b"garbage", b"\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7" + b"\xff" * 40]
)
def test_damaged_arrays_beside_the_text_are_named(data: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, ALIASES)
    path.with_suffix(".params").write_bytes(data)
    with pytest.raises(MicrogenError, match=r"m\.params"):
        microgen.compile_model(path, "native")


def test_a_folder_beside_the_text_is_no_arrays(tmp_path: Path) -> None:
    path = written(tmp_path, ALIASES)
    path.with_suffix(".params").mkdir()
    with pytest.raises(MicrogenError, match="is not a regular file"):
        microgen.compile_model(path, "native")


def _models(folder: Path) -> list[tuple[str, bytes]]:
    """Texts, and the arrays beside them."""
    networks = [IRModule.from_expr(Network(seed).function(8)) for seed in range(12)]
    models = [(SEED_DEMO.read_text(), b""), (ALIASES, b"")]
    for module in (*networks, *(random_module(seed) for seed in range(12))):
        path = folder / "sound.relay"
        beside = path.with_suffix(".params")
        beside.unlink(missing_ok=True)
        relay.save(module, path)
        models.append((path.read_text(), beside.read_bytes() if beside.exists() else b""))
    return models


def _mutated(rng: np.random.Generator, text: str) -> str:
    for _ in range(int(rng.integers(1, 4))):
        found = list(re.finditer(r"\b\d+\b|" + "|".join(map(re.escape, _WORDS)), text))
        if not found:
            return text
        match = found[int(rng.integers(len(found)))]
        choices = _WORDS.get(match[0], _NUMBERS)
        new = str(choices[int(rng.integers(len(choices)))])
        text = text[: match.start()] + new + text[match.end() :]
    return text


def _error(path: Path) -> MicrogenError | None:
    try:
        microgen.compile_model(path, "native")
    except MicrogenError as error:
        return error
    return None


def _fuzzed(seeds: range, folder: Path) -> None:
    models = _models(folder)
    compiled = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        text, arrays = models[int(rng.integers(len(models)))]
        path = written(folder, _mutated(rng, text))
        path.with_suffix(".params").unlink(missing_ok=True)
        if arrays:
            path.with_suffix(".params").write_bytes(arrays)
        start = time.monotonic()
        error = _error(path)
        assert time.monotonic() - start < _SECONDS, seed
        assert error is None or (error.exit_code == 2 and "\n" not in str(error)), (seed, error)
        compiled += error is None
    assert 0 < compiled < len(seeds)


def test_mutated_texts_compile_or_are_refused(tmp_path: Path) -> None:
    _fuzzed(range(150), tmp_path)


@pytest.mark.slow
def test_more_mutated_texts_compile_or_are_refused(tmp_path: Path) -> None:
    _fuzzed(range(150, 4000), tmp_path)


def test_a_parameter_is_not_read_outside_of_its_function(tmp_path: Path) -> None:
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32]) {
  %2 = fn (%y: Tensor[(2), float32]) {
    %0 = fn (%z: Tensor[(2), float32]) { add(%z, %y) };
    %0(%y)
  };
  %3 = %2(%x);
  %0(%3)
}
"""
    error = _error(written(tmp_path, text))
    assert error is not None
    assert "%y is read outside of the function that it belongs to" in str(error)
