"""The costs of external code generators on a board, as the tables of docs/guides/byoc.md.

Bytes are from the linker's map, by object. Instructions are retired ones, counted under QEMU on
samples of ``numpy.random.RandomState(0)``. For loading, they are the difference between a first
inference, which loads the modules, and a second. For a call, they are those of an inference that
calls a single function. The counts are the same in every run.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microgen import relay
from microgen.base import manifest
from microgen.graph.ir.graph import Array
from microgen.interface import api
from microgen.relay import Expr, IRModule
from microgen.running import runner
from scripts.measuring.tables import CHECKOUT

EXAMPLES = CHECKOUT / "examples"
DEMO, GUIDE = EXAMPLES / "seed_demo.relay", EXAMPLES / "byoc_guide.relay"
EXAMPLEJSON = ("examplejsoncompiler",)
# Objects by their purpose. An object belongs to the first pattern that matches it.
PARTS = {
    "const loader": r"const_loader",
    "loader": r"module_\w+|json_text",
    "`dnnl_json`": r"runtime_dnnl_json|dnnl_\w+|json_\w+|decimal_f32",
    "`examplejson`": r"runtime_examplejson|examplejson_\w+",
    "the model's calls and table": r"default_(modules|loaders|tensors)",
    "blob": r"default_blob",
}
_CONTRIBUTION = re.compile(
    r"^ \.(text|rodata|data|bss)\S*\s+0x[0-9a-f]+\s+0x([0-9a-f]+) \S*?(\w+)\.c\.\w+$", re.MULTILINE
)
_LOADING = re.compile(r"^ *\(void\)tvmgen_\w+_load_modules\(\);\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A model and the codegens that compile it."""

    name: str
    model: Path | IRModule
    codegens: tuple[str, ...]
    board: str
    merged: bool = False

    def generated(self, folder: Path) -> Path:
        """A new project in the folder."""
        project = folder / f"{len(list(folder.iterdir()))}"
        merged = self.merged and bool(self.codegens)
        api.generate(self.model, self.board, project, codegen=self.codegens, merge_regions=merged)
        return project


def sample(record: manifest.Manifest, count: int) -> dict[str, Array]:
    """One random sample, ``count`` times."""
    state = np.random.RandomState(0)
    arrays = {p.tensor: state.uniform(-1, 1, p.shape).astype(p.dtype) for p in record.inputs}
    return {name: np.stack([array] * count) for name, array in arrays.items()}


# Bytes


def sizes(map_text: str) -> dict[str, tuple[int, int]]:
    """Flash and RAM of each part, from the linker's map."""
    # Before this line the map lists sections that the linker has discarded.
    _, _, kept = map_text.partition("\nLinker script and memory map\n")
    found = dict.fromkeys(PARTS, (0, 0))
    for section, nbytes, name in _CONTRIBUTION.findall(kept):
        part = next((part for part, form in PARTS.items() if re.fullmatch(form, name)), "")
        if part:
            flash, ram = found[part]
            size = int(nbytes, 16)
            in_flash, in_ram = size * (section != "bss"), size * (section in ("data", "bss"))
            found[part] = (flash + in_flash, ram + in_ram)
    return found


def memory_rows(case: Case, folder: Path) -> Iterator[Sequence[object]]:
    """Flash and RAM of one firmware's parts, the module pool among them."""
    project = case.generated(folder)
    api.build(project)
    found = sizes((project / "build" / "firmware.map").read_text())
    for part, (flash, ram) in found.items():
        if flash or ram:
            yield case.name, part, flash, ram
    pools = manifest.load(project).plan.pools
    yield case.name, "module pool", 0, next(p.nbytes for p in pools if p.name == "module_pool")


# Instructions


def loading(case: Case, folder: Path) -> int:
    """Instructions of loading the modules, in a firmware whose main does not load them."""
    project = case.generated(folder)
    main = project / "src" / "main.c"
    text, count = _LOADING.subn("", main.read_text())
    assert count == 1
    main.write_text(text)
    elf = api.build(project).elf
    twice = sample(manifest.load(project), 2)
    first, second = runner.run(project, twice, elf=elf, profile=True).instructions or (0, 0)
    return first - second


def calls(case: Case, folder: Path) -> int:
    """Instructions of a network's functions together."""
    project = case.generated(folder)
    found = api.run(project, sample(manifest.load(project), 1), profile=True)
    return sum((found.per_call or ((),))[0])


def call_row(case: Case, folder: Path) -> Sequence[object]:
    """A call by the codegen, and by the built-in kernels."""
    built_in = calls(Case(case.name, case.model, (), case.board), folder)
    found = calls(case, folder)
    return case.name, case.board, case.codegens[0], built_in, found, f"{found - built_in:+,}"


def one(call: Callable[..., Expr], *shapes: tuple[int, ...], **attrs: object) -> IRModule:
    """A network of one operator."""
    params = [relay.var(f"x{i}", shape=shape) for i, shape in enumerate(shapes)]
    return IRModule.from_expr(relay.Function(params, call(*params, **attrs)))


def call_cases(board: str, large: str) -> Iterator[Case]:
    """Single operators of one element, for which all instructions are overhead, and of more."""
    dnnl, c = ("dnnl",), ("ccompiler",)
    for shape in ((1, 1), (10, 10)):
        yield Case(f"`nn.relu` of {shape}", one(relay.nn.relu, shape), dnnl, board)
        yield Case(f"`nn.relu` of {shape}", one(relay.nn.relu, shape), c, board)
        yield Case(f"`add` of {shape}", one(relay.add, shape, shape), dnnl, board)
        yield Case(f"`add` of {shape}", one(relay.add, shape, shape), EXAMPLEJSON, board)
        yield Case(f"`add` of {shape}", one(relay.add, shape, shape), c, board)
    small = one(relay.nn.conv2d, (1, 4, 8, 8), (4, 4, 3, 3), padding=(1, 1))
    yield Case("`nn.conv2d`, 4 channels of 8x8", small, dnnl, board)
    image, weight = (1, 32, 56, 56), (32, 32, 3, 3)
    yield Case("the demo's `nn.relu`", one(relay.nn.relu, image), dnnl, large)
    conv = one(relay.nn.conv2d, image, weight, padding=(1, 1))
    yield Case("the demo's `nn.conv2d`", conv, dnnl, large)


def table(head: Sequence[str], rows: Iterator[Sequence[object]]) -> None:
    """Print a table of Markdown."""
    for row in (head, ["---"] * len(head), *rows):
        cells = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row)
        print(f"| {' | '.join(cells)} |", flush=True)
    print()


def small() -> IRModule:
    """A convolution with constant weights, and relu."""
    image = relay.var("x", shape=(1, 4, 8, 8))
    weight = np.random.RandomState(0).uniform(-1, 1, (4, 4, 3, 3)).astype(np.float32)
    sums = relay.nn.conv2d(image, relay.const(weight), padding=(1, 1))
    return IRModule.from_expr(relay.Function([image], relay.nn.relu(sums)))


def networks(board: str, large: str) -> Sequence[Case]:
    """Networks whose modules are loaded. The first two have one runtime each, and fit anywhere."""
    guide = (*EXAMPLEJSON, "ccompiler")
    return (
        Case("conv2d, relu", small(), ("dnnl",), board),
        Case("byoc_guide", GUIDE, guide, board),
        Case("byoc_guide, merged", GUIDE, guide, board, merged=True),
        Case("seed_demo", DEMO, ("dnnl",), large),
    )


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="measure.py byoc", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--board", default="mps2_an386")
    parser.add_argument("--large-board", default="mps3_an547", help="a board that the demo fits")
    asked = parser.parse_args(arguments)
    found = networks(asked.board, asked.large_board)
    with tempfile.TemporaryDirectory(prefix="microgen-costs-") as name:
        folder = Path(name)
        parts = (row for case in found[:2] for row in memory_rows(case, folder))
        table(("firmware", "part", "flash", "RAM"), parts)
        loads = ((c.name, c.board, loading(c, folder)) for c in found)
        table(("blob of", "board", "instructions of loading"), loads)
        rows = (call_row(c, folder) for c in call_cases(asked.board, asked.large_board))
        table(("call", "board", "codegen", "built-in", "codegen's", "more"), rows)
