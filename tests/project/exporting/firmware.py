"""A small foreign firmware with its own linker script, into which components are linked."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from microgen import frontends
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.verifier import VerifyReport, verify
from tests.support.each_compiled import each_compiled
from tests.support.places import SMALL

FOREIGN = Path(__file__).parent / "foreign"
PIXELS = np.random.default_rng(15).integers(-128, 128, (1, 8, 8, 1), np.int8)

# Everything that a vendor's build may complain about.
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
M4 = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
FATAL = (
    *("-Wl,--fatal-warnings", "-Wl,--orphan-handling=error", "-Wl,--gc-sections"),
    "-Wl,-z,noexecstack",  # newlib's assembly files do not say that they need no such stack
)
QEMU = ("qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-semihosting-config")
SECTIONS = (
    Path(__file__).resolve().parents[3] / "templates/export/zip/microgen_sections.ld.j2"
).read_text()


def expected() -> list[int]:
    """What numpy's reference computes for the pixels."""
    graph = frontends.load(SMALL)
    (name,) = graph.inputs
    result = evaluate(graph, {name: PIXELS}, registry())[graph.outputs[0]]
    return [int(value) for value in result.reshape(-1)]


def run(command: Sequence[object], folder: Path, **options: object) -> str:
    """The output of a program that must succeed; what it says on errors is in the failure."""
    made = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        **options,  # type: ignore[call-overload]
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return str(made.stdout)


def printed(text: str) -> list[int]:
    """The outputs that the application printed."""
    numbers, status = text.split("status")
    assert int(status) == 0
    return [int(number) for number in numbers.split()]


def application(readme: str, folder: Path) -> Path:
    """Writes what the application includes: the README's code, and the pixels."""
    (code,) = re.findall(r"```c\n(.*?)```", readme, re.DOTALL)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "calling.h").write_text(code)
    values = ", ".join(str(value) for value in PIXELS.reshape(-1))
    (folder / "pixels.h").write_text(f"#define PIXELS {{{values}}}\n")
    (folder / "microgen_sections.ld").write_text(SECTIONS)
    return folder


@dataclass
class Firmware:
    """The application, compiled by GCC for a Cortex-M4 and linked with a component."""

    folder: Path
    readme: str
    options: tuple[str, ...] = ("-Os", "-std=gnu11")  # of the firmware
    elf: Path = field(init=False)

    def __post_init__(self) -> None:
        application(self.readme, self.folder)
        self.elf = self.folder / "firmware.elf"

    def compiled(self, sources: Iterable[Path], *options: str, name: str = "model") -> list[Path]:
        """A component's objects. ``options`` come after the firmware's."""
        folder = self.folder / name
        folder.mkdir()
        command = ["arm-none-eabi-gcc", *M4, *self.options, *STRICT, *options]
        return each_compiled(command, list(sources), folder)

    def link(self, objects: Iterable[Path], *includes: Path) -> Firmware:
        """Links the application with objects or archives."""
        folders = (*includes, self.folder, FOREIGN)
        sources = [FOREIGN / name for name in ("main.c", "console_arm.c")]
        own = self.compiled(sources, *(f"-I{path}" for path in folders), name="own")
        script = ("-nostdlib", "-L", self.folder, "-T", FOREIGN / "arm.ld", *FATAL)
        command = ("arm-none-eabi-gcc", *M4, *script, *own, *objects, "-lc", "-lgcc")
        run((*command, "-o", self.elf), self.folder)
        return self

    def outputs(self) -> list[int]:
        """What it prints under QEMU."""
        command = (*QEMU, "enable=on,target=native,chardev=out", "-chardev", "stdio,id=out")
        return printed(run((*command, "-kernel", self.elf), self.folder, stdin=subprocess.DEVNULL))


def proved(project: Path, elf: Path) -> VerifyReport:
    """The report of ``microgen verify`` on a firmware, in which nothing failed."""
    report = verify(project, elf=elf, scope="model")
    assert [(check.name, check.found) for check in report.failed] == []
    assert report.scope == "model"
    assert report.check("built_from").status == "ok"
    return report
