"""A model that needs too much RAM is refused with options that really help, and their bytes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import CapacityError
from tests.support.places import SMALL

# 131,072 bytes of RAM, and 65,536 in another memory.
BOARD = "stm32f4_disco"


def _model(folder: Path, rows: int, dtype: str = "float32") -> Path:
    path = folder / f"{rows}_{dtype}.relay"
    path.write_text(f"""#[version = "0.0.5"]
def @main(%x: Tensor[(1, {rows}, 64, 8), {dtype}]) {{
  %0 = nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], layout="NHWC");
  %1 = nn.max_pool2d(%0, pool_size=[2, 2], strides=[2, 2], layout="NHWC");
  nn.max_pool2d(%1, pool_size=[8, 8], strides=[8, 8], layout="NHWC")
}}
""")
    return path


def _refusal(model: Path, board: str = BOARD, **options: object) -> CapacityError:
    with pytest.raises(CapacityError) as caught:
        microgen.compile_model(model, board, **options)
    return caught.value


def _bytes(what: str, error: CapacityError) -> int:
    found = re.search(rf"{re.escape(what)} (?:needs|puts) (?:about )?([0-9,]+) bytes", error.hint)
    assert found, error.hint
    return int(found[1].replace(",", ""))


def test_rows_of_the_input(tmp_path: Path) -> None:
    error = _refusal(_model(tmp_path, 64))
    made = microgen.compile_model(_model(tmp_path, 64), BOARD, input_rows=8)
    assert _bytes("`--input-rows 8`", error) == made.manifest.estimate.ram_least < error.there
    assert error.facts == {"memory": "RAM", "needed": error.needed, "available": 131072}
    assert "the workspace peaks at call" in error.hint


def test_what_does_not_suffice_is_called_so(tmp_path: Path) -> None:
    error = _refusal(_model(tmp_path, 64), ram=8000)
    assert re.search(r"`--input-rows 1` needs [0-9,]+ bytes \(still too many\)", error.hint)


def test_another_memory_of_the_board(tmp_path: Path) -> None:
    model = _model(tmp_path, 62)
    error = _refusal(model)
    pool = "ccm:*:memory=ccm"
    made = microgen.compile_model(model, BOARD, pool=(pool,))
    assert _bytes(f"`--pool {pool}`", error) == made.plan.peak
    assert "memory=" not in _refusal(model, ram=131000).hint  # a budget is of all memories


def test_int8_instead_of_float32(tmp_path: Path) -> None:
    floats, integers = _model(tmp_path, 64), _model(tmp_path, 64, "int8")
    about = _bytes("int8 instead of float32", _refusal(floats))
    needed = microgen.compile_model(integers, BOARD).manifest.estimate.ram_least
    assert abs(about - needed) < needed / 4
    assert "int8 instead" not in _refusal(integers, ram=30000).hint


def test_inputs_that_may_be_overwritten(tmp_path: Path) -> None:
    """Without a window there are no rows to feed."""
    model = tmp_path / "m.relay"
    model.write_text("""#[version = "0.0.5"]
def @main(%x: Tensor[(20000), float32]) { %0 = exp(%x); %1 = nn.softmax(%0); sum(%1) }
""")
    error = _refusal(model)
    made = microgen.compile_model(model, BOARD, input_consumed=True)
    assert _bytes("`--input-consumed`", error) == made.manifest.estimate.ram_least
    assert "--input-rows" not in error.hint


def test_nothing_is_advised_that_does_not_help() -> None:
    error = _refusal(SMALL, "mps2_an386", ram=400)
    assert "needs 0" not in error.hint
    flash = _refusal(SMALL, "mps2_an386", flash=1000)
    assert flash.hint == "use fewer or narrower layers, or a board with more flash"
