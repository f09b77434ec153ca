"""The data of ``make bench``: the matrix, the peers' figures, the file of the results."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from microgen import pipeline
from scripts.bench import matrix, peers, results
from scripts.bench.results import Figures, Layer, MeasuredNetwork, Result, Results

MATRIX, PEERS = matrix.load(), peers.load()


def test_the_matrix_has_every_network_and_board_and_boards_of_microgen() -> None:
    found = MATRIX.combinations()
    assert {c.network for c in found} == set(MATRIX.networks)
    assert {c.board for c in found} == set(MATRIX.boards)
    for name, board in MATRIX.boards.items():
        assert pipeline.load_board(board.runs_on or name).qemu
        assert bool(board.runs_on) == bool(board.clock_hz)


def test_the_shown_combination_is_measured_of_every_network() -> None:
    shown = (MATRIX.shown.board, MATRIX.shown.optimize)
    there = {c.network for c in MATRIX.combinations() if (c.board, c.optimize) == shown}
    assert there == set(MATRIX.networks)


def test_every_optimize_is_measured() -> None:
    assert {c.optimize for c in MATRIX.combinations()} == {"speed", "balanced", "ram", "flash"}


@pytest.mark.parametrize(
    ("key", "wrong"), [("networks", ["nothing"]), ("boards", ["x"]), ("optimize", ["fast"])]
)
def test_an_unknown_name_in_the_matrix_is_refused(
    key: str, wrong: list[str], tmp_path: Path
) -> None:
    data = yaml.safe_load(matrix.FILE.read_text(encoding="utf-8"))
    data["measured"][0][key] = wrong
    (tmp_path / "m.yml").write_text(yaml.safe_dump(data))
    with pytest.raises(ValueError, match=f"unknown names: {wrong[0]}"):
        matrix.load(tmp_path / "m.yml")


def test_each_peer_says_what_it_is_and_how_it_was_measured() -> None:
    for peer in PEERS.peers.values():
        assert peer.title
        assert peer.source
        assert peer.measured
        assert peer.figures
        assert "/" not in peer.source.replace("input/output", "")  # no paths


def test_figures_of_peers_are_of_networks_in_the_matrix_and_positive() -> None:
    for name, peer in PEERS.peers.items():
        for quantity, networks in peer.figures.items():
            assert set(networks) <= set(MATRIX.networks), name
            for boards in networks.values():
                assert set(boards) <= {*MATRIX.boards, *PEERS.devices}, (name, quantity)
                assert all(type(value) is int and value > 0 for value in boards.values())


def test_cycles_of_others_are_compared_only_with_boards_that_have_a_clock() -> None:
    compared = {
        b for p in PEERS.peers.values() for n in p.figures.get("cycles", {}).values() for b in n
    }
    assert all(MATRIX.boards[b].clock_hz for b in compared & set(MATRIX.boards))


def test_devices_are_measured_here_or_have_a_reason_why_there_is_no_ratio() -> None:
    assert not set(PEERS.devices) & set(MATRIX.boards)
    compared = [
        b for p in PEERS.peers.values() for n in p.figures.get("cycles", {}).values() for b in n
    ]
    assert set(PEERS.devices) <= set(compared)
    assert all(device.why for device in PEERS.devices.values())
    assert all(bool(board.device) == bool(board.runs_on) for board in MATRIX.boards.values())


@pytest.mark.parametrize(
    ("board", "core", "megahertz", "wait_states"),
    [("nucleo_f446re", "M4", 180, 5), ("nucleo_h753zi", "M7", 480, 4)],
)
def test_cycles_of_tigris_are_compared_on_its_own_devices(
    board: str, core: str, megahertz: int, wait_states: int
) -> None:
    found = MATRIX.boards[board]
    assert found.core == f"{core} at {megahertz} MHz"
    assert (found.clock_hz, found.flash_wait_states) == (megahertz * 1_000_000, wait_states)
    for name in ("tigris", "tigris_tflm"):
        for boards in PEERS.peers[name].figures["cycles"].values():
            assert set(boards) <= {"nucleo_f446re", "nucleo_h753zi", "pico2w"}, name
            assert board in boards
    assert "pico2w" in PEERS.devices


def test_each_record_names_its_holder() -> None:
    best = PEERS.peers["best_published"]
    assert {n: set(b) for n, b in best.whose.items()} == {
        n: set(b) for n, b in best.figures["cycles"].items()
    }
    # Rounds 1.1 to 1.3 of MLPerf Tiny: the clock of the device divided by inferences per second.
    throughputs = {("kws", "stm32u385"): 20.7007, ("vww", "stm32u385"): 10.12753}
    for (network, board), each_second in throughputs.items():
        cycles = MATRIX.boards[board].clock_hz / each_second
        assert best.figure("cycles", network, board) == pytest.approx(cycles, rel=3e-4)
        assert best.whose[network][board] == "X-CUBE-AI 10.2"
    holders = [
        *(("resnet", "stm32u575", "Plumerai"), ("ad", "stm32u575", "HALE")),
        *(("ad", "stm32h7a3", "HALE"), ("ad", "stm32l4r5", "Plumerai")),
        *((network, "stm32g0b1", "HALE") for network in ("kws", "vww", "resnet", "ad")),
    ]
    for network, board, holder in holders:
        assert best.whose[network][board] == holder


def test_a_record_without_a_holder_is_refused(tmp_path: Path) -> None:
    data = yaml.safe_load(peers.FILE.read_text(encoding="utf-8"))
    del data["peers"]["best_published"]["whose"]["ad"]["stm32h7a3"]
    (tmp_path / "p.yml").write_text(yaml.safe_dump(data))
    with pytest.raises(ValueError, match="best_published: `whose` must name the holder of each"):
        peers.load(tmp_path / "p.yml")


def test_the_smaller_count_of_both_optimisation_levels_is_compared() -> None:
    peer = PEERS.peers["microtvm_cmsis_nn"]
    assert peer.figure("instructions", "kws", "mps2_an386") == 8_288_496  # -O2
    assert peer.figure("instructions", "ad", "mps2_an386") == 579_977  # -O3


def test_floors_are_derived_and_no_loop_is_below_its_products() -> None:
    for floor in PEERS.floors:
        assert floor.why
        assert set(floor.boards) <= set(MATRIX.boards)
        assert floor.least >= floor.products > 0
    assert PEERS.floor("int8", "mps2_an386").least == 28 / 32  # type: ignore[union-attr]
    assert PEERS.floor("float32", "mps2_an385") is None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"unknown": 1}, "unknown"),
        ({"figures": {"speed": {"kws": {"mps2_an386": 1}}}}, "unknown quantities: speed"),
        ({"figures": {"code": {"kws": {"mps2_an386": "1"}}}}, "int"),
    ],
)
def test_a_damaged_record_of_a_peer_is_refused(
    damage: dict[str, object], message: str, tmp_path: Path
) -> None:
    data = yaml.safe_load(peers.FILE.read_text(encoding="utf-8"))
    data["peers"]["tinyengine"] |= damage
    (tmp_path / "p.yml").write_text(yaml.safe_dump(data))
    with pytest.raises(ValueError, match=message):
        peers.load(tmp_path / "p.yml")


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    layer = Layer("a", "nn.dense", "mg_dense_s8", (1, 10), 640, 1000, 1200)
    figures = Figures(*range(1, 8))
    made = Results(
        tools={"gcc": "1"},
        networks={"kws": MeasuredNetwork("aa", 640)},
        results=(
            Result("kws", "b", "speed", 0.5, 1.5, figures=figures, layers=(layer,)),
            Result("kws", "b", "ram", same_as="speed", figures=figures),
            Result("kws", "c", "speed", refused='needs 2 "bytes"'),
        ),
    )
    (tmp_path / "r.json").write_text(results.text(made))
    again = results.load(tmp_path / "r.json")
    assert again == made
    assert results.text(again) == results.text(made)
    assert again.layers(again.results[1]) == (layer,)


def test_the_committed_results_are_of_the_matrix_and_as_the_tool_writes_them() -> None:
    committed = results.load()
    assert results.text(committed) == results.FILE.read_text(encoding="utf-8")
    assert [r.of for r in committed.results] == MATRIX.combinations()
    for result in committed.results:
        assert bool(result.refused) == (result.figures is None)
        assert bool(result.figures) == bool(committed.layers(result))
