"""``python -m scripts.bench other``: the networks that it makes, the peer's figures, its tables and
its exit codes."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.base.errors import UsageError
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir import interpreter
from microgen.graph.ops import registry
from microgen.interface import api
from scripts.bench import __main__ as bench
from scripts.bench import measure
from scripts.bench.networks import table
from scripts.bench.other import command, kinds, measuring, peer, report, stored
from scripts.bench.other.measuring import BOARDS, Asked, Found
from scripts.bench.other.peer import Peer
from scripts.bench.other.stored import Core, Ours, Stored
from scripts.bench.tflm import building, running, sources
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support.tools import NEEDS_CC, NEEDS_NINJA

SMALL = ("few_channels", "lstm_36", "speech_4")
NAME = "few_channels"
# On Cortex-M55 strips of three channels take fewer cycles than fitted. On Cortex-M3 a depthwise
# convolution of one channel with many filters takes more, on RV32 convolutions of three channels.
# On Cortex-M4 and M33 those of fewer filters than fitted take more, up to 26 %.
BEYOND = {
    *(("few_channels", "M55"), ("few_channels", "RV32"), ("speech_8", "M3")),
    *(("speech_4", "M4"), ("speech_4", "M33"), ("few_channels", "M33"), ("generator_7", "M33")),
}
FOUND = Found(
    *(Asked(NAME, "M4", "int8"), "a", 500, 1000, 1100, 4000, 3000, 2400),
    layers={"add": (10, 40), "mean": (5, 9)},
)
PEER = Peer(1000, 6000, 9000, {"add": (10, 20), "softmax": (3, 3)})
OURS = Ours(500, 1000, 1100, 4000, 3000, 2400, {"add": (10, 40), "mean": (5, 9)})


def rows(found: Found = FOUND, theirs: Peer = PEER) -> list[report.Compared]:
    known = {NAME: Stored("int8", "a", {"M4": Core(theirs, OURS)})}
    return report.compared([found], known)


def test_all_networks_have_figures_of_the_peer_for_the_bytes_that_are_made() -> None:
    known = stored.load()
    for name, row in table.ROWS.items():
        digest = hashlib.sha256(table.model(name)).hexdigest()
        assert (known[name].kind, known[name].sha256) == (row.kind, digest), name
        for core in (*BOARDS, *measuring.MORE_BOARDS):
            figures = known[name].cores[measuring.SAME_PEER.get(core, core)]
            assert known[name].cores[core].ours is not None
            assert figures.peer is not None
            assert figures.peer.instructions > 0


def test_estimated_cycles_were_within_15_percent() -> None:
    """Of networks that no cost was fitted to: see ``tests/qemu/test_estimated_cycles.py``. Without
    an FPU the cycles of float32 layers depend on their values, and most kernels of int16 are alone
    on such cores, so they have no costs."""
    errors = {
        (name, core): figures.ours.estimated / figures.ours.cycles - 1
        for name, one in stored.load().items()
        for core, figures in one.cores.items()
        if figures.ours
        and figures.ours.estimated
        and (one.kind == "int8" or core not in ("M3", "RV32"))
    }
    assert len({name for name, _ in errors}) >= 40
    assert {key for key, error in errors.items() if abs(error) > 0.15} <= BEYOND


def test_the_file_is_as_it_would_be_written() -> None:
    assert stored.text(stored.load()) == stored.FILE.read_text(encoding="utf-8")


def test_there_are_as_many_networks_as_were_compared_before() -> None:
    kind_of = [row.kind for row in table.ROWS.values()]
    assert kind_of.count("int8") >= 65
    assert min(kind_of.count("int16"), kind_of.count("float32")) >= 5


@needs_litert
@pytest.mark.parametrize("name", SMALL)
def test_values_equal_litert_and_are_not_constant(name: str, tmp_path: Path) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(table.model(name))
    graph = frontends.load(model)
    rng = np.random.default_rng(0)
    data = {
        tensor: rng.integers(-128, 128, graph.types[tensor].shape).astype(np.int8)
        for tensor in graph.inputs
    }
    ours = interpreter.evaluate(graph, data, registry())
    (theirs,) = LiteRT().layers(frontends.stored(model), [list(data.values())])
    for output in (output for node in graph.nodes for output in node.outputs):
        np.testing.assert_array_equal(ours[output], theirs[output], err_msg=output)
        assert np.ptp(ours[output].astype(int)) > 0, f"{output} is constant"


@NEEDS_CC
@NEEDS_NINJA
@pytest.mark.parametrize("name", SMALL[:2])
def test_small_ones_run_and_compare(name: str, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(table.model(name))
    done = microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p")
    microgen.build(tmp_path / "p")
    inputs = measure.random_input(done.manifest)
    ran = microgen.run(tmp_path / "p", inputs, compare=True)
    assert all(verdict.ok for verdict in ran.verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("name", table.ROWS)
def test_every_network_is_planned(name: str, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(table.model(name))
    assert api.plan(tmp_path / "m.tflite", "native").program.calls


def test_layers_have_kinds_and_units(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(table.model("lstm_36"))
    graph = frontends.load(tmp_path / "m.tflite")
    lstm, _, dense, _ = (kinds.of_node(node, graph) for node in graph.nodes)
    assert (lstm.kind, lstm.macs) == ("lstm", 36 * 4 * 28 * (22 + 28))
    assert (dense.kind, dense.units) == ("dense, one row", 36 * 28 * 6)


def test_operators_that_we_compute_together_belong_to_one_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "m.tflite").write_bytes(table.model("lstm_36"))
    compiled = api.compile_model(tmp_path / "m.tflite", "native")
    names = ("UNIDIRECTIONAL_SEQUENCE_LSTM", "RESHAPE", "FULLY_CONNECTED", "SOFTMAX")
    operators = tuple(zip(names, (1000, 20, 300, 7), strict=True))
    monkeypatch.setattr(running, "of", lambda *_: running.Run(1400, 900, 600, operators))
    calls = compiled.program.calls
    theirs = peer.of(table.model("lstm_36"), "M4", calls, compiled.graph)
    assert (theirs.instructions, theirs.arena, theirs.whole) == (1400, 600, 900)
    counts = {kind: count for kind, (_, count) in theirs.layers.items()}
    assert counts == {"lstm": 1000, "dense, one row": 320, "softmax": 7}


def test_the_summary_has_means_worst_ones_and_ram() -> None:
    other = replace(FOUND, asked=replace(FOUND.asked, core="M55"), instructions=1210)
    known = {NAME: Stored("int8", "a", {"M4": Core(PEER), "M55": Core(PEER)})}
    text = report.summary(report.compared([FOUND, other], known))
    assert "0.500 (0.50 few_channels), 0 / 0" in text
    assert "1.210 (1.21 few_channels), 1 / 1" in text
    assert "0.33 (0.33), 0 over 1 | 0.50 (0.50), 0 over 1 | 0.40 (0.40), 0 over 1" in text


def test_layers_are_listed_worst_first_if_both_have_them() -> None:
    theirs = replace(PEER, layers={"mean": (5, 90), **PEER.layers})
    lines = report.layers(rows(theirs=theirs)).splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == ["| add", "| mean"]
    assert "4.00 | 2.00 | 2.00 | 40 | few_channels 2.00 |" in lines[0]


@pytest.mark.parametrize("name", ["instructions", "arena", "balanced"])
def test_a_figure_may_be_two_percent_worse_and_no_more(name: str) -> None:
    before = getattr(FOUND, name)
    (same,) = rows(replace(FOUND, **{name: before + before // 50}))
    (worse,) = rows(replace(FOUND, **{name: before + before // 50 + 1}))
    assert (same.is_worse, worse.is_worse) == (False, True)


def test_another_file_of_that_name_is_not_compared() -> None:
    assert not rows(replace(FOUND, sha256="b"))
    known = {NAME: Stored("int8", "a", {"M4": Core(PEER, OURS)})}
    same = stored.updated(known, FOUND)
    assert same[NAME].cores["M4"] == Core(PEER, OURS)
    changed = stored.updated(known, replace(FOUND, sha256="b"))
    assert changed[NAME].cores["M4"] == Core(None, OURS)


def test_a_run_of_the_peer_leaves_our_figures() -> None:
    before = {NAME: Stored("int8", "a", {"M4": Core(None, OURS)})}
    new = stored.updated(before, replace(FOUND, peer=PEER))[NAME].cores["M4"]
    assert new == Core(PEER, OURS)


def test_sources_of_the_peer_are_at_the_commits_of_the_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(sources.VARIABLE, raising=False)
    with pytest.raises(UsageError, match=f"set {sources.VARIABLE} to a folder with checkouts"):
        command.main(["--peer"])
    monkeypatch.setenv(sources.VARIABLE, str(tmp_path))
    with pytest.raises(UsageError, match="tflite-micro is at nothing, not at"):
        command.main(["--peer"])


def test_a_network_that_the_peer_refuses_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "folder", Path)
    monkeypatch.setattr(building, "program", lambda *_: Path("none"))
    done = subprocess.CompletedProcess([], 1, stdout="refused\n", stderr="")
    monkeypatch.setattr(running.subprocess, "run", lambda *_, **__: done)
    (found,) = measuring.outcomes([Asked(NAME, "M4", "int8", table.model(NAME), is_peer=True)], 1)
    assert found.failed == "TensorFlow Lite Micro ended without a result: refused"


@pytest.mark.parametrize(
    ("instructions", "failed", "code"), [(500, "", 0), (511, "", 1), (500, "no memory", 1)]
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch, instructions: int, failed: str, code: int
) -> None:
    one = replace(FOUND, instructions=instructions, failed=failed)
    known = {NAME: Stored("int8", "a", {"M4": Core(PEER, OURS)})}
    monkeypatch.setattr(stored, "load", lambda: known)
    monkeypatch.setattr(command, "outcomes", lambda *_: iter([one]))
    assert bench.main(["other", "--only", NAME, "--core", "M4"]) == code


def test_an_unknown_network_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="there is no network 'x'"):
        command.main(["--only", "x"])
    assert bench.main(["other", "--only", "x"]) == 2
    assert "there is no network 'x'" in capsys.readouterr().err


def test_committed_figures_are_shown_without_measuring(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {NAME: Stored("int8", "a", {"M4": Core(PEER, OURS)})}
    monkeypatch.setattr(stored, "load", lambda: known)
    monkeypatch.setattr(command, "outcomes", None)
    assert command.main(["--stored", "--networks", "--layers"]) == 0
    said = capsys.readouterr().out
    assert "0.500 (0.50 few_channels)" in said
    assert "+10.0 %" in said
    assert "| add | int8 | M4 | 4.00 | 2.00 |" in said
