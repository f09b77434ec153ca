"""What every test may use: the models next to the checkout, and ``tests`` as a package."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Test modules import helpers as `tests.<module>`, however pytest was started.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


# Tests start Python dozens of times, with more than a thousand modules. They are compiled once.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# In each of them numpy would start threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# The time that an example takes depends more on the machine than on the code.
settings.register_profile("no_deadline", deadline=None)
settings.register_profile("few_examples", deadline=None, max_examples=40)
settings.load_profile("no_deadline")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make golden` passes this option to rewrite the expected files."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


# A shell's background jobs ignore Ctrl-C. Every program that a test interrupts would ignore it,
# too.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Keeps temporary files in memory. Makes builds skip CMake's check of compilers, and use ccache
    if it is installed. In a run without slow tests, builds leave out what toolchain.cmake says,
    one case of each kernel is compiled with the kernel's body inlined, and hypothesis tries fewer
    examples.

    Hundreds of projects are built, and most of their files are the same. With ccache each file is
    compiled once for each set of options, wherever the project is in the temporary folder.
    """
    from tests.support import memory_disk

    memory_disk.use()
    os.environ.setdefault(
        "CMAKE_TOOLCHAIN_FILE", str(Path(__file__).parent / "support" / "toolchain.cmake")
    )
    if config.option.markexpr == "not slow":
        os.environ["TESTS_BUILD_QUICKLY"] = "1"
        os.environ["TESTS_MOST_INLINED"] = "1"
        settings.load_profile("few_examples")
    if shutil.which("ccache"):
        os.environ["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
        os.environ["CCACHE_DIR"] = str(config.rootpath / ".pytest_cache" / "ccache")
        os.environ["CCACHE_BASEDIR"] = tempfile.gettempdir()
        os.environ["CCACHE_NOHASHDIR"] = "1"
        os.environ["CCACHE_MAXSIZE"] = "500M"
        os.environ["CCACHE_DEPEND"] = "1"  # Ninja wants the headers listed anyway


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` deselects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves some cases of repetitive tests to the slow run."""
    from tests.support import sampling

    sampling.mark_others_slow(items)


# Ten thousand tests are millions of objects that are never freed. Searching them takes seconds.
gc.disable()


def pytest_collection_finish() -> None:
    """Excludes the collected tests from every later search for garbage, of which there are few."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switches ccache off for tests that compare what compilers make of the same sources."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")


@pytest.fixture
def as_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optimizes builds with sanitizers, as users' are."""
    monkeypatch.delenv("TESTS_BUILD_QUICKLY", raising=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """Skips a test of a program that this machine lacks, and names the package to install."""
    from microgen.base.errors import ToolError
    from tests.support import tools

    try:
        return (yield)
    except (ToolError, FileNotFoundError) as error:
        tools.skip_if_caused(error)
        raise


pytest_runtest_call = pytest_runtest_setup


@pytest.fixture(scope="session")
def mlperf_models() -> Path:
    """The folder of the MLPerf Tiny models: $MICROGEN_MODELS, or shared/models next to the repo."""
    folder = Path(os.environ.get("MICROGEN_MODELS") or ROOT.parent / "shared" / "models")
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}: set MICROGEN_MODELS to the MLPerf Tiny models")
    return folder
