"""How far modelled cycles are from published ones: the table of docs/timing.md.

    scripts/cycle_error.py --models FOLDER --cmsis-nn SOURCES

Builds MLPerf Tiny's networks with CMSIS-NN's kernels, whose cycles on devices are published for
TensorFlow Lite Micro and microTVM, runs them in QEMU on boards with the devices' clocks and wait
states, and prints a line for each record.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from microgen import api, resources
from microgen.options import Options

FILES = {
    "kws": "kws_ref_model.tflite",
    "vww": "vww_96_int8.tflite",
    "resnet": "pretrainedResnet_quant.tflite",
    "ad": "ad01_int8.tflite",
}


@dataclass(frozen=True)
class Device:
    """A device of a record: the board whose core is the same, clock, and wait states of flash."""

    name: str
    board: str
    clock_hz: int
    wait_states: int


# ST RM0432, section 3.3.3: 5 wait states at 120 MHz. Nordic's nRF5340 PS: a cache before flash, 2
# wait states assumed. The last two records do not name their devices or wait states.
L4R5 = Device("stm32l4r5", "mps2_an386", 120_000_000, 5)
NRF53 = Device("nrf5340", "mps2_an505", 128_000_000, 2)
M4 = Device("cortex_m4", "mps2_an386", 120_000_000, 5)
M7 = Device("cortex_m7", "mps2_an500", 216_000_000, 6)

# Million cycles of an inference. OctoML's submissions to MLPerf Tiny v1.0 (microTVM with CMSIS-NN):
# the clock divided by the inferences per second. TiGrIS: its figures of TensorFlow Lite Micro.
PUBLISHED = {
    L4R5: {"kws": 11.977, "vww": 36.1, "resnet": 46.8, "ad": 1.033},
    NRF53: {"kws": 9.739, "vww": 29.698, "resnet": 40.468, "ad": 0.802},
    M4: {"kws": 12.249, "ad": 0.865},
    M7: {"kws": 6.141, "ad": 0.562},
}


def board_of(device: Device, folder: Path) -> Path:
    """A board in ``folder`` that QEMU runs, with the device's clock and wait states."""
    source = resources.folder("boards") / device.board / "board.yml"
    data = yaml.safe_load(source.read_text(encoding="utf-8"))
    data |= {"clock_hz": device.clock_hz, "flash_wait_states": device.wait_states}
    made = folder / device.name
    made.mkdir()
    (made / "board.yml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return made


def row(model: Path, device: Device, board: Path, sources: str, published: float) -> str:
    """A line of the table, of Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"cmsis-nn.path={sources}"
        options = Options(numerics="tflm", codegen=("cmsis-nn",), codegen_option=(path,))
        api.generate(model, board, folder, **asdict(options))
        ran = api.run(folder, profile=True)
    assert ran.modelled is not None
    assert ran.instructions is not None
    cycles = ran.modelled.totals[0].cycles / 1e6
    numbers = f"{ran.instructions[0] / 1e6:.3f} | {cycles:.3f} | {published:.3f}"
    name = {file: name for name, file in FILES.items()}[model.name]
    return f"| {name} | {device.name} | {numbers} | {100 * (cycles / published - 1):+.1f} % |"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--cmsis-nn", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MICROGEN_BOARDS"] = folder
        for device, published in PUBLISHED.items():
            board = board_of(device, Path(folder))
            for name, cycles in published.items():
                model = arguments.models / FILES[name]
                print(row(model, device, board, arguments.cmsis_nn, cycles), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
