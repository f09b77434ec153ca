"""An error of one unit beyond the bound, in a layer of a built program, is found and named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base import manifest
from microgen.base.manifest import CallRecord, ModuleRecord
from microgen.building import builder
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.beside import no_slack
from microgen.graph.ir.graph import DType
from microgen.running import runner
from microgen.running.comparing import compare
from microgen.running.comparing.verdict import Verdict
from tests.frontends.onnx.models import written
from tests.running.comparing import standins
from tests.running.comparing.oracle_networks import clipped, with_bias
from tests.running.comparing.standins import KINDS, Planted, Standin
from tests.support.tools import NEEDS_GDBSERVER, NEEDS_NINJA

pytestmark = [
    NEEDS_NINJA,
    NEEDS_GDBSERVER,
    pytest.mark.skipif(
        bool(OnnxRuntime().lacking() or LiteRT().lacking()), reason="an oracle is not installed"
    ),
]
_SOURCES = "model/codegen/host/src"
_EACH = 7  # networks of each kind


@dataclass(frozen=True)
class Firmware:
    """One program with several networks, by module, and a sample for each."""

    project: Path
    networks: Mapping[str, Standin]

    def run(self) -> Mapping[str, tuple[Verdict, Verdict]]:
        """The verdicts of each module, built as its sources are: by the reference and by the
        oracle."""
        elf, inputs = builder.build(self.project).elf, self._inputs()
        outputs = runner.run(self.project, inputs, elf=elf).outputs
        found = compare.compare(self.project, inputs, outputs, elf)
        pairs = zip(found[::2], found[1::2], strict=True)
        return dict(zip((each.module for each in self._modules()), pairs, strict=True))

    def _modules(self) -> Sequence[ModuleRecord]:
        return manifest.load(self.project).modules

    def _inputs(self) -> dict[str, np.ndarray]:
        return {
            f"{name}.{tensor}": array[None]
            for name, network in self.networks.items()
            for tensor, array in network.given(network.source, 0).items()
        }

    def plants(self) -> dict[str, list[tuple[CallRecord, Planted]]]:
        """The errors that the calls of each module can have."""
        ran = runner.run(self.project, self._inputs(), trace=True)
        assert ran.layers is not None
        found = {}
        for module in self._modules():
            layers = {one.tensor: one.array for one in ran.layers if one.module == module.module}
            found[module.module] = [*_plants(module, self.networks[module.module], layers)]
        return found


def _plants(
    module: ModuleRecord, network: Standin, layers: Mapping[str, np.ndarray]
) -> Iterator[tuple[CallRecord, Planted]]:
    """One for each call that has a function of its own with one result, which can be read."""
    types = network.reduced.types
    known = {
        name: np.ascontiguousarray(array).view(types[name].dtype.numpy).reshape(types[name].shape)
        for name, array in layers.items()
        if name in types
    }
    functions = [call.function for call in module.calls]
    for one in network.walked(network.reduced, known, no_slack):
        kind = types[one.tensor]
        if kind.quant is None and kind.dtype is not DType.FLOAT32:
            continue  # a wrong index may be a status
        for call in module.calls:
            made = [step.tensor for step in call.read]
            error = standins.beyond(one) if made == [one.tensor] else None
            if error and functions.count(call.function) == 1 and len(one.node.outputs) == 1:
                yield call, error


def _broken(text: str, call: CallRecord, error: Planted, shape: tuple[int, ...]) -> str:
    """The operators with one whose first output has a wrong element; the same text if no statement
    can be added to the function."""
    found = re.search(rf"^int32_t {call.function}\(.*?^}}$", text, re.DOTALL | re.MULTILINE)
    if found is None:  # it is in another file
        return text
    start, end = found.span()
    body = found.group()
    if not re.search(r"\b(float|int8_t|int16_t|int32_t|int64_t|uint8_t) \*out0\b", body):
        return text
    place = int(np.ravel_multi_index(error.index, shape)) if shape else 0
    value = float(error.value).hex() + "F" if "float *out0" in body else str(int(error.value))
    last = body.rfind("    return 0;")
    if last < 0:  # it returns the kernel's status
        return text
    body = f"{body[:last]}    out0[{place}] = {value};\n{body[last:]}"
    return text[:start] + body + text[end:]


_LAYERS = {
    "limited": {"dtype": "uint8", "zero": 0, "has_clip": True},
    "moved": {"dtype": "uint8", "zero": 100, "has_clip": False},
    "signed": {"dtype": "int8", "zero": -3, "has_clip": True},
}


def test_a_bias_of_the_firmware_that_is_two_steps_off_is_found_and_named(tmp_path: Path) -> None:
    """The firmware is made of models with another bias than those that it is compared with."""
    models = []
    for name, layer in _LAYERS.items():
        written(with_bias(clipped(**layer), 2), tmp_path, f"{name}.onnx")  # type: ignore[arg-type]
        models.append((str(tmp_path / f"{name}.onnx"), name))
    project = tmp_path / "p"
    microgen.generate_models(models, "native", project)
    for module in manifest.load(project).modules:
        right = clipped(**_LAYERS[module.module])  # type: ignore[arg-type]
        (project / module.model.path).write_bytes(right.SerializeToString())
    sample = np.array([[[0, 1, 2, 3]]], np.float32)
    inputs = {f"{name}.x": sample for name in _LAYERS}
    elf = builder.build(project).elf
    outputs = runner.run(project, inputs, elf=elf).outputs
    for verdict in compare.compare(project, inputs, outputs, elf):
        assert not verdict.ok, str(verdict)
        assert verdict.difference
        assert verdict.difference.layer == "g"
        assert verdict.difference.largest == 2


def _right(seeds: range, folder: Path) -> Firmware:
    """A program of networks of each kind, which is no alarm."""
    pairs = [(kind, seed) for seed in seeds for kind in KINDS]
    made = {f"{kind}{seed}": standins.made(kind, seed, folder) for kind, seed in pairs}
    networks = {name: replace(each, samples=each.samples[:1]) for name, each in made.items()}
    firmware = Firmware(folder / "p", networks)
    models = [(str(each.path), name) for name, each in networks.items()]
    microgen.generate_models(models, "native", firmware.project)
    for name, verdicts in firmware.run().items():
        assert all(each.ok or each.is_skipped for each in verdicts), (name, *map(str, verdicts))
    return firmware


@pytest.mark.slow
@pytest.mark.parametrize("first", range(_EACH + 1, 10 * _EACH, _EACH))
def test_right_firmware_is_no_alarm(first: int, tmp_path: Path) -> None:
    _right(range(first, first + _EACH), tmp_path)


@pytest.mark.slow
def test_an_error_in_a_layer_of_the_elf_is_found_and_named(tmp_path: Path) -> None:
    firmware = _right(range(1, 1 + _EACH), tmp_path)
    plants = firmware.plants()
    found = sum(_found(firmware, plants, k) for k in range(max(map(len, plants.values()))))
    assert found >= 2 * len(plants)


def _found(
    firmware: Firmware, plants: Mapping[str, Sequence[tuple[CallRecord, Planted]]], k: int
) -> int:
    """The number of errors that were planted: one in each module, if it has so many."""
    sources, planted = dict[Path, str](), dict[str, Planted]()
    for name, every in plants.items():
        if k >= len(every):
            continue
        (call, error), path = every[k], firmware.project / _SOURCES / f"{name}_lib1.c"
        text = path.read_text()
        shape = firmware.networks[name].reduced.types[error.tensor].shape
        wrong = _broken(text, call, error, shape)
        if wrong != text:
            sources[path], planted[name] = text, error
            path.write_text(wrong)
    verdicts = firmware.run()
    for path, text in sources.items():
        path.write_text(text)
    for name, error in planted.items():
        verdict = verdicts[name][0]
        assert not verdict.ok, f"{name}, {error}: {verdict}"
        assert verdict.difference, f"{name}, {error}: {verdict}"
        assert verdict.difference.layer == error.layer, f"{name}, {error}: {verdict}"
    return len(planted)
