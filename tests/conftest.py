"""What every test may use: the models beside the checkout, and ``tests`` as a package."""

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

# Test modules share helpers as `tests.<module>`, whichever way pytest was started.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


# How long an example takes says more of the machine than of the code.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make golden` rewrites the expected files."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


# A shell's background jobs ignore Ctrl-C, and so would every program that a test interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Hundreds of projects are built, of which most files are the same: with ccache, where it is
    installed, each is compiled once for each set of options, wherever below the temporary folder
    the project lies."""
    if shutil.which("ccache"):
        os.environ["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
        os.environ["CCACHE_DIR"] = str(config.rootpath / ".pytest_cache" / "ccache")
        os.environ["CCACHE_BASEDIR"] = tempfile.gettempdir()
        os.environ["CCACHE_NOHASHDIR"] = "1"
        os.environ["CCACHE_MAXSIZE"] = "500M"
        os.environ["CCACHE_DEPEND"] = "1"  # Ninja wants the headers listed anyway


# Ten thousand tests are millions of objects that stay: looking at them for garbage takes seconds.
gc.disable()


def pytest_collection_finish() -> None:
    """What was collected is left out of every later search for garbage."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that compare what compilers make of the same sources."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """A test of a program that this machine lacks is skipped, with the package to install."""
    from microgen.errors import ToolError
    from tests import tools

    try:
        return (yield)
    except (ToolError, FileNotFoundError) as error:
        tools.skip_if_caused(error)
        raise


pytest_runtest_call = pytest_runtest_setup


@pytest.fixture(scope="session")
def mlperf_models() -> Path:
    """The folder of the MLPerf Tiny models: $MICROGEN_MODELS, or shared/models beside the repo."""
    folder = Path(os.environ.get("MICROGEN_MODELS") or ROOT.parent / "shared" / "models")
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}: set MICROGEN_MODELS to the MLPerf Tiny models")
    return folder
