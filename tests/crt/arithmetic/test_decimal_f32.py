"""Decimal texts as float32, compared with numpy's reading of them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from microgen.base import resources
from tests.kernels.conformance.conformance import SANITIZERS, WARNINGS, host_cc

CRT = resources.folder("crt")
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("decimal") / "decimal"
    files = [
        HERE / "decimal_driver.c",
        CRT / "src" / "json/decimal_f32.c",
        CRT / "src" / "json/json_text.c",
    ]
    includes = [f"-I{CRT / 'include'}", f"-I{CRT / 'src'}"]
    command = [host_cc(), *WARNINGS, *SANITIZERS, *includes, *map(str, files), "-o", str(binary)]
    subprocess.run(command, check=True)
    return binary


def read(driver: Path, texts: Sequence[str]) -> list[str]:
    stdin = "\n".join(texts) + "\n"
    return subprocess.run(
        [driver], input=stdin, capture_output=True, text=True, check=True
    ).stdout.split()


def bits(value: np.float32) -> str:
    return str(int(value.view(np.uint32)))


def check(driver: Path, values: np.ndarray, form: str) -> None:
    texts = [format(float(value), form) for value in values]
    assert read(driver, texts) == [bits(value) for value in values]


def test_every_float_comes_back(driver: Path) -> None:
    """Floats, denormals included, as C++ prints them with max_digits10 of a float and a double."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 0x7F800000, 20_000, np.uint32)
    signed = values | rng.integers(0, 2, values.size, np.uint32) << np.uint32(31)
    for form in (".9g", ".17g", ".25g", ".12e"):
        check(driver, signed.view(np.float32), form)


def test_doubles_are_rounded_to_the_nearest(driver: Path) -> None:
    rng = np.random.default_rng(2)
    doubles = rng.standard_normal(20_000) * 10.0 ** rng.integers(-44, 38, 20_000)
    texts = [format(value, ".17g") for value in doubles]
    with np.errstate(under="ignore"):
        assert read(driver, texts) == [bits(np.float32(value)) for value in doubles]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("0", 0.0), ("-0", -0.0), ("+1", 1.0), ("1.", 1.0), (".5", 0.5), ("007", 7.0)),
        *(("1e+2", 100.0), ("1E-2", 0.01), ("inf", np.inf), ("-inf", -np.inf), ("0e9999", 0.0)),
        *(("1e-9999", 0.0), ("16777217", 16777216.0), ("16777219", 16777220.0)),
        *(("3.4028235e38", 3.4028235e38), ("7e-46", 0.0), ("8e-46", 1e-45)),
        ("1" + "0" * 60 + "e-60", 1.0),
        ("0." + "0" * 60 + "1e61", 1.0),
        ("0." + "0" * 40 + "25", 2.5e-41),
    ],
)
def test_texts(driver: Path, text: str, value: float) -> None:
    assert read(driver, [text]) == [bits(np.float32(value))]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "nan",
            "",
            "-",
            "+",
            ".",
            "e5",
            "1e",
            "1e+",
            "1 ",
            " 1",
            "1,5",
            "0x1",
            "1e39",
            "infinity",
        ),
        *("--1", "+-1", "1e10001", "1e99999999999999999999", "3.4028236e38", "1" + "0" * 200, "1f"),
    ],
)
def test_what_is_no_number(driver: Path, text: str) -> None:
    assert read(driver, [text]) == ["-"]
