"""``scripts/bare_machine.sh`` and ``.ci/run``, with stand-ins for what only root can run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tools import needs

pytestmark = needs("git")
ROOT = Path(__file__).resolve().parents[1]
BASICS = ("apt-config", "bash", "dirname", "env", "realpath", "sed", "setpriv", "true", "unshare")
COMMANDS = "make demo && make test"
# They change files as the real ones do, without a system. mmdebstrap's last arguments are the
# sources.
STANDINS = {
    "id": "echo 0",
    "setpriv": 'while [ "$1" != env ] && [ "$1" != true ]; do shift; done; exec "$@"',
    "mmdebstrap": 'while [[ $1 = -* ]]; do shift; done; mkdir -p "$2"/{etc,src}',
    "mount": ":",
    "chroot": 'exec "$2" "$3" "$4" "$1$5" "${@:6}"',
}
IN_NAMESPACES = ["setpriv", "unshare", "--mount", "--mount-proc", "--pid", "--fork", "true"]
needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or subprocess.run(IN_NAMESPACES, capture_output=True).returncode != 0,
    reason="only root can mount, and only outside of containers",
)


class Checkout:
    """A checkout with the two scripts, a folder for temporary files, and its own commands."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.bin, self.tmp, self.home = folder / "bin", folder / "tmp", folder / "home"
        for path in (self.root, self.bin, self.tmp, self.home):
            path.mkdir()
        for name in ("scripts/bare_machine.sh", ".ci/run"):
            (self.root / name).parent.mkdir()
            shutil.copy(ROOT / name, self.root / name)
        self.environment = {"PATH": f"{self.bin}:{os.environ['PATH']}", "TMPDIR": str(self.tmp)}
        self.environment["HOME"] = str(self.home)

    def put(self, name: str, script: str) -> None:
        (self.bin / name).write_text(f"#!{shutil.which('bash')}\n{script}\n")
        (self.bin / name).chmod(0o755)

    def commit(self) -> None:
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(self.root)]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
            subprocess.run([*git, *command], check=True)

    def start(self, *command: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [shutil.which("bash") or "bash", *command],
            cwd=self.root,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *command: str, **variables: str) -> tuple[int, str, str]:
        with self.start(*command, **variables) as process:
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def bare(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        return self.run("scripts/bare_machine.sh", *arguments, **variables)


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    made = Checkout(tmp_path)
    for name, script in STANDINS.items():
        made.put(name, script)
    made.commit()
    yield made
    assert not list(made.tmp.iterdir())


def test_the_command_runs_in_a_clone_and_its_exit_code_is_passed_on(checkout: Checkout) -> None:
    (checkout.root / "changed").write_text("not committed")
    status, out, err = checkout.bare("pwd; ls; cat; exit 7")
    assert status == 7
    folder, *files = out.split()
    assert folder.startswith(str(checkout.tmp))
    assert files == ["scripts"]
    assert ": pwd; ls; cat; exit 7" in err


def test_without_a_command_it_runs_those_of_the_readme(checkout: Checkout) -> None:
    (checkout.root / "Makefile").write_text("demo test:\n\t@echo made $@\n")
    checkout.commit()
    assert checkout.bare()[:2] == (0, "made demo\nmade test\n")
    assert all(
        f"\n{command} " in (ROOT / "README.md").read_text() for command in COMMANDS.split(" && ")
    )


def test_models_are_put_beside_the_clone(checkout: Checkout) -> None:
    beside = checkout.root.parent / "shared" / "models"
    assert checkout.bare("ls ..")[1] == "project\n"
    beside.mkdir(parents=True)
    (beside / "a.tflite").touch()
    (beside.parent / "secret").touch()
    (beside.parent / "reference").mkdir()
    (beside.parent / "reference" / "tflm_golden.npz").touch()
    assert checkout.bare("find ../shared -type f | sort")[1].splitlines() == [
        "../shared/models/a.tflite",
        "../shared/reference/tflm_golden.npz",
    ]
    (checkout.home / "b.tflite").touch()
    given = checkout.bare("ls ../shared/models", MICROGEN_MODELS=str(checkout.home))
    assert given[1] == "b.tflite\n"


def test_settings_of_packages_are_copied_and_nothing_else_of_the_environment(
    checkout: Checkout,
) -> None:
    config, certificate = checkout.home / ".config" / "pip", checkout.home / "own.pem"
    config.mkdir(parents=True)
    certificate.write_text("a certificate\n")
    (config / "pip.conf").write_text(f"[global]\ncert = {certificate}\n")
    given = {"PIP_TIMEOUT": "9", "https_proxy": "http://proxy.invalid", "CI": "true", "OTHER": "x"}
    status, out, _ = checkout.bare(
        f"cat ../../root/.config/pip/pip.conf ../..{certificate}; env; echo $HOME", **given
    )
    assert status == 0
    lines = out.splitlines()
    assert lines[:3] == ["[global]", f"cert = {certificate}", "a certificate"]
    assert {"PIP_TIMEOUT=9", "https_proxy=http://proxy.invalid", "CI=true"} <= set(lines)
    assert "OTHER=x" not in lines
    assert lines[-1] == "/root"


@pytest.mark.parametrize("failing", ["mmdebstrap", "mount", "git"])
def test_what_keeps_the_command_from_starting_is_exit_code_125(
    failing: str, checkout: Checkout
) -> None:
    checkout.put(failing, "echo it fails >&2; exit 3")
    status, out, err = checkout.bare("echo started")
    assert (status, out) == (125, "")
    assert "it fails" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fast"], "there is no option --fast; usage: scripts/bare_machine.sh [COMMAND]"),
        (["make", "demo"], "2 arguments; quote the command: scripts/bare_machine.sh 'make demo'"),
    ],
)
def test_wrong_arguments(arguments: list[str], said: str, checkout: Checkout) -> None:
    assert checkout.bare(*arguments) == (125, "", f"bare_machine: {said}\n")


def test_help(checkout: Checkout) -> None:
    status, out, _ = checkout.bare("--help")
    assert status == 0
    assert "scripts/bare_machine.sh [COMMAND]" in out
    assert "set -eu" not in out


@pytest.mark.parametrize(
    ("name", "script", "said"),
    [
        ("id", "echo 1000", "only root may do this; type: sudo "),
        ("mmdebstrap", "", "mmdebstrap is missing; type: apt-get install -y mmdebstrap"),
        ("setpriv", "exit 1", "nothing can be mounted here"),
    ],
)
def test_what_is_missing_is_one_line(name: str, script: str, said: str, checkout: Checkout) -> None:
    for basic in set(BASICS) - set(STANDINS):
        (checkout.bin / basic).symlink_to(shutil.which(basic) or basic)
    if script:
        checkout.put(name, script)
    else:
        (checkout.bin / name).unlink()
    status, out, err = checkout.bare(PATH=str(checkout.bin))
    assert (status, out, err.count("\n")) == (125, "", 1)
    assert said in err


@pytest.mark.parametrize(
    "when", ["mmdebstrap", "chroot", pytest.param("namespaces", marks=needs_namespaces)]
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_it_leaves_nothing(number: int, when: str, checkout: Checkout) -> None:
    started = checkout.home / "started"
    waiting = (
        f"mktemp >/dev/null; touch {started}; while [ -e {checkout.tmp}/* ]; do sleep 0.05; done"
    )
    if when == "namespaces":
        for name in ("setpriv", "mount"):
            (checkout.bin / name).unlink()
        checkout.put("mmdebstrap", STANDINS["mmdebstrap"] + '; mkdir "$2"/{proc,sys,dev}')
    checkout.put("mmdebstrap" if when == "mmdebstrap" else "chroot", waiting)
    with checkout.start("scripts/bare_machine.sh") as process:
        deadline = time.monotonic() + 30
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert started.exists()
        process.send_signal(number)
        process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert str(checkout.tmp) not in Path("/proc/self/mounts").read_text()


def ci(checkout: Checkout, status: int) -> tuple[int, list[str]]:
    """The exit code and the lines of .ci/run if bare_machine.sh ends with ``status``."""
    script = checkout.root / "scripts" / "bare_machine.sh"
    script.write_text(f'#!/bin/sh\necho "bare: $1"\nexit {status}\n')
    checkout.put("make", 'echo "make $1"')
    code, out, _ = checkout.run(".ci/run")
    return code, out.splitlines()


@pytest.mark.parametrize("status", [0, 2])
def test_ci_runs_both_commands_in_a_bare_root_file_system(status: int, checkout: Checkout) -> None:
    said = f"ci: in a bare root file system: {COMMANDS}: exit code {status}"
    assert ci(checkout, status) == (status, [f"bare: {COMMANDS}", said])


def test_ci_runs_both_commands_directly_where_there_can_be_none(checkout: Checkout) -> None:
    code, lines = ci(checkout, 125)
    assert code == 0
    assert lines[1:-1] == [f"ci: directly on this machine: {COMMANDS}", "make demo", "make test"]
    assert lines[-1] == f"ci: directly on this machine: {COMMANDS}: exit code 0"


def test_ci_installs_mmdebstrap_as_root(checkout: Checkout) -> None:
    (checkout.bin / "mmdebstrap").unlink()
    for name in ("bash", "dirname"):
        (checkout.bin / name).symlink_to(shutil.which(name) or name)
    checkout.put("apt-get", f'echo "$*" >>{checkout.home}/asked')
    checkout.environment["PATH"] = str(checkout.bin)
    assert ci(checkout, 0)[0] == 0
    asked = (checkout.home / "asked").read_text().splitlines()
    assert asked == ["-q update", "-q install -y --no-install-recommends mmdebstrap"]
