"""float_math.h and the headers that are built on it, compared with double: every function keeps the
bound that its comment states."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from microgen.base import resources
from tests.kernels.conformance.conformance import SANITIZERS, WARNINGS, host_cc

CRT = resources.folder("crt")
HEADERS = ("math", "angles", "erf", "hyperbolic", "inverse_angles", "power")
INCLUDE = CRT / "include" / "microgen" / "arithmetic"
HEADER = "".join((INCLUDE / f"float_{name}.h").read_text() for name in HEADERS)
DRIVER = Path(__file__).with_name("float_math_driver.c")
EXACT = 0.5  # the driver gives every result but the correctly rounded one an infinite error
STRIDE = 4099

CONTRACTED = (
    "exp",
    "expm1",
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "log",
    *("tan", "asin", "acos", "atan", "sinh", "cosh", "log1p", "asinh", "acosh", "atanh"),
    *("softplus", "mish", "erf"),
)  # a fused multiply-add changes their results
FUNCTIONS = (
    *("abs", "round_half_away", "round_half_even", "floor", "ceil"),
    *("sqrt", "sqrt_portable", "rsqrt", "pow", *CONTRACTED),
)
FUSED = "fused"
BUILDS = {
    "plain": ("-O2", "-ffp-contract=off"),
    FUSED: ("-O2", "-ffp-contract=fast", "-mfma"),
    "sanitized": (*SANITIZERS, "-ffp-contract=off"),
}

Program = Callable[[str], Path]


def bound(function: str) -> float:
    """The largest error in ULP that the function's comment allows."""
    (comment,) = re.findall(
        rf"/\*((?:(?!\*/).)*)\*/\nMG_INLINE \w+ mg_f32_{function}\(", HEADER, re.DOTALL
    )
    stated = re.search(r"within\s+(?:\*\s+)?(\d+\.\d+) ULP", comment)
    assert stated or "exact" in comment, f"the comment of {function} states no bound"
    return float(stated[1]) if stated else EXACT


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The driver, compiled once for each way to build it."""
    folder = tmp_path_factory.mktemp("float_math")

    def compiled(build: str) -> Path:
        if build == FUSED and not _has_fused_multiply_add():
            pytest.skip("this machine has no x86 fused multiply-add")
        path = folder / build
        options = (*WARNINGS, "-Wdouble-promotion", *BUILDS[build], f"-I{CRT / 'include'}")
        if not path.exists():
            subprocess.run([host_cc(), *options, str(DRIVER), "-o", str(path), "-lm"], check=True)
        return path

    return compiled


def _has_fused_multiply_add() -> bool:
    cpu = Path("/proc/cpuinfo")
    return cpu.is_file() and re.search(r"^flags\b.* fma\b", cpu.read_text(), re.M) is not None


def _worst(program: Path, function: str, stride: int) -> tuple[float, str]:
    """The largest error in ULP, and the bit pattern of its argument."""
    done = subprocess.run(
        [program, str(stride), function], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    name, error, bits = done.stdout.split()
    assert name == function
    return float(error), bits


def _check(program: Path, function: str, stride: int) -> None:
    error, bits = _worst(program, function, stride)
    assert error <= bound(function), f"mg_f32_{function} of the float {bits} is {error} ULP off"


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("build", BUILDS)
def test_no_sampled_float_exceeds_the_bound(build: str, function: str, program: Program) -> None:
    _check(program(build), function, STRIDE)


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_float_exceeds_the_bound(function: str, program: Program) -> None:
    _check(program("plain"), function, 1)


@pytest.mark.slow
@pytest.mark.parametrize("function", CONTRACTED)
def test_no_float_exceeds_the_bound_with_contraction(function: str, program: Program) -> None:
    _check(program(FUSED), function, 1)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("function", CONTRACTED)
def test_the_bound_is_not_loose(function: str, program: Program) -> None:
    # More floats are tried only if those before are all too exact.
    errors = (_worst(program("plain"), function, stride)[0] for stride in (STRIDE, 997, 97))
    assert any(error >= 0.9 * bound(function) for error in errors), "the comment could say less"
