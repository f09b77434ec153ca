"""`make` bootstraps a bare machine: PATH has only what each test puts there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from microgen.building import tools

ROOT = Path(__file__).resolve().parents[1]
BASICS = ("bash", "cat", "cmp", "dirname", "echo", "env", "mktemp", "mkdir", "rm", "sed", "tail")
PROGRAMS = sorted({tool.program or tool.name for tool in tools.TOOLS})
# A python3 whose `-m venv` copies itself, and which logs the arguments of pip.
PYTHON = f"""\
case "$*" in
    *"-m venv"*) mkdir -p .venv/bin && cat "$0" >.venv/bin/python && chmod +x .venv/bin/python ;;
    *"-m pip"*) echo "pip $*" >>"$LOG" ;;
    -I*) exec {sys.executable} "$@" ;;
esac
"""
NO_LIBRARY = 'case "$*" in *--version*) echo clang version 19.1.7 ;; *%s*) exit 1 ;; esac\n'


class Machine:
    """A checkout, and a PATH with few commands."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.log = root / "log"
        self.bin.mkdir()
        for name in ("scripts/bootstrap.sh", "microgen/building/tools.py"):
            (root / name).parent.mkdir(parents=True)
            shutil.copy(ROOT / name, root / name)
        (root / "pyproject.toml").write_text("[project]\n")
        for name in (*BASICS, "chmod", "xargs"):
            (self.bin / name).symlink_to(shutil.which(name) or name)
        self.put("python3", PYTHON)
        self.user(0)

    def put(self, name: str, script: str = "") -> None:
        (self.bin / name).write_text(f"#!{shutil.which('bash')}\n{script}")
        (self.bin / name).chmod(0o755)

    def user(self, uid: int) -> None:
        self.put("id", f"echo {uid}")

    def put_tools(self, *, without: tuple[str, ...] = ()) -> None:
        for name in PROGRAMS:
            if name not in without:
                self.put(name)

    def put_apt_get(self, *, installs: tuple[str, ...], like: str = "id") -> None:
        make = "; ".join(f'cat "{self.bin / like}" >"{self.bin / t}"' for t in installs)
        mode = "; ".join(f'chmod +x "{self.bin / t}"' for t in installs)
        self.put("apt-get", f'echo "apt-get $*" >>"$LOG"\n{make or ":"}\n{mode or ":"}\n')

    def bootstrap(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.root / "scripts" / "bootstrap.sh")],
            env={"PATH": str(self.bin), "LOG": str(self.log)},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def logged(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_python_packages_are_installed_once_and_the_second_run_says_nothing(machine: Machine):
    machine.put_tools()
    first = machine.bootstrap()
    assert first.returncode == 0, first.stderr
    assert [line.split(" -e ")[1] for line in machine.logged()] == [".[oracle,dev,examples]"]
    second = machine.bootstrap()
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert len(machine.logged()) == 1


def test_python_packages_are_installed_again_when_pyproject_changes(machine: Machine):
    machine.put_tools()
    machine.bootstrap()
    (machine.root / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    machine.bootstrap()
    assert len(machine.logged()) == 2


def test_pip_without_a_network_says_what_to_type_and_leaves_no_stamp(machine: Machine):
    machine.put_tools()
    machine.put("python3", PYTHON + 'case "$*" in *"-m pip"*) exit 1 ;; esac\n')
    result = machine.bootstrap()
    assert result.returncode == 2
    assert "make bootstrap" in result.stderr
    assert not (machine.root / ".venv" / "installed").exists()


def test_root_installs_only_what_is_missing(machine: Machine):
    machine.put_tools(without=("cmake", "qemu-system-arm"))
    machine.put_apt_get(installs=("cmake", "qemu-system-arm"))
    result = machine.bootstrap()
    assert result.returncode == 0, result.stderr
    assert machine.logged()[:2] == [
        "apt-get -q update",
        "apt-get -q install -y --no-install-recommends cmake qemu-system-arm",
    ]


def test_a_compiler_that_cannot_link_lacks_its_c_library(machine: Machine):
    machine.put_tools()
    machine.put("cc", NO_LIBRARY % "")
    machine.put("arm-none-eabi-gcc", NO_LIBRARY % "nosys.specs")
    machine.user(1000)
    result = machine.bootstrap()
    assert result.returncode == 2
    assert "install -y gcc libc6-dev libnewlib-arm-none-eabi\n" in result.stderr


def test_the_package_of_the_sanitizers_has_clangs_version(machine: Machine):
    machine.put_tools()
    machine.put("clang", NO_LIBRARY % "-fsanitize")
    machine.user(1000)
    result = machine.bootstrap()
    assert result.returncode == 0
    assert "going on without: libclang-rt-19-dev (apt-get install" in result.stderr


def test_what_a_new_compiler_lacks_is_installed_next(machine: Machine):
    machine.put_tools(without=("clang",))
    machine.put("half", NO_LIBRARY % "-fsanitize")
    machine.put_apt_get(installs=("clang",), like="half")
    assert machine.bootstrap().returncode == 0
    installed = [line.split("recommends ")[1] for line in machine.logged() if "-y" in line]
    assert installed == ["clang", "libclang-rt-19-dev"]


def test_extras_that_are_new_in_the_list_are_installed_later(machine: Machine):
    machine.put_tools()
    machine.bootstrap()
    (machine.bin / "gdbserver").unlink()
    machine.put_apt_get(installs=("gdbserver",))
    result = machine.bootstrap()
    assert "going on without" not in result.stderr
    assert "apt-get -q install -y --no-install-recommends gdbserver" in machine.logged()


def test_a_user_with_sudo_installs_through_it(machine: Machine):
    machine.put_tools(without=("ninja",))
    machine.put_apt_get(installs=("ninja",))
    machine.user(1000)
    machine.put("sudo", 'echo sudo >>"$LOG"\nexec env "$@"\n')
    assert machine.bootstrap().returncode == 0
    assert machine.logged()[:2] == ["sudo", "apt-get -q update"]


def test_a_user_without_sudo_gets_the_line_to_type(machine: Machine):
    machine.put_tools(without=("cmake", "ninja"))
    machine.put_apt_get(installs=())
    machine.user(1000)
    result = machine.bootstrap()
    assert result.returncode == 2
    assert "apt-get update && apt-get install -y cmake ninja-build\n" in result.stderr
    assert machine.logged() == []


def test_an_apt_get_that_fails_is_not_taken_for_success(machine: Machine):
    machine.put_tools(without=("cmake",))
    machine.put("apt-get", "echo no network >&2\nexit 100\n")
    result = machine.bootstrap()
    assert result.returncode == 2
    assert "no network" in result.stderr
    assert "install -y cmake\n" in result.stderr


@pytest.mark.parametrize(
    ("tool", "package"),
    [
        ("gdbserver", "gdbserver"),
        ("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
        ("clang", "clang"),
        ("ld.lld", "lld"),
        ("qemu-system-riscv32", "qemu-system-misc"),
        ("g++", "g++"),
    ],
)
def test_missing_extras_are_named_and_do_not_stop(tool: str, package: str, machine: Machine):
    machine.put_tools(without=(tool,))
    machine.user(1000)
    result = machine.bootstrap()
    assert result.returncode == 0
    assert f"going on without: {package} (apt-get install -y {package})" in result.stderr


def test_extras_that_could_not_be_installed_are_not_tried_for_again(machine: Machine):
    machine.put_tools(without=("gdbserver",))
    machine.put_apt_get(installs=())
    for _ in range(2):
        assert machine.bootstrap().returncode == 0
    assert machine.logged().count("apt-get -q update") == 1


def test_an_old_python_is_refused(machine: Machine):
    machine.put_tools()
    machine.put("python3", "exit 1")
    result = machine.bootstrap()
    assert result.returncode == 2
    assert "Python 3.11 or newer is missing" in result.stderr


@pytest.mark.parametrize(
    "target",
    [
        *("demo", "test", "test-full", "lint", "check", "golden", "clean", "bootstrap"),
        *("bench", "bench-check", "docs"),
    ],
)
def test_make_knows_and_explains_each_target(target: str):
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(rf"^{target}:.*## \w", makefile, re.MULTILINE)
