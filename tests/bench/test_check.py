"""``make bench-check``: what counts as worse, better or not checked, and its exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.bench import __main__ as bench
from scripts.bench import check, matrix, pool, results
from scripts.bench.matrix import Combination
from scripts.bench.results import FIGURES, Figures, MeasuredNetwork, Result, Results

OF = Combination("kws", "mps2_an386", "speed")
OTHER = Combination("ad", "mps2_an386", "speed")
SAMPLE = Figures(*[100_000] * len(FIGURES))


def results_of(figures: Figures | None, of: Combination = OF, sha256: str = "a") -> Results:
    return Results(
        networks={of.network: MeasuredNetwork(sha256, 1)},
        results=(Result(of.network, of.board, of.optimize, figures=figures),),
    )


def compared(before: Figures | None, now: Figures | None) -> check.Report:
    return check.compare(results_of(before), results_of(now), [OF], {})


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_may_be_half_a_percent_worse_and_no_more(name: str) -> None:
    allowed = compared(SAMPLE, replace(SAMPLE, **{name: 100_500}))
    assert (allowed.worse, allowed.exit_code) == ((), check.PASSED)
    worse = compared(SAMPLE, replace(SAMPLE, **{name: 100_501}))
    assert [(d.figure, d.before, d.now) for d in worse.worse] == [(name, 100_000, 100_501)]
    assert worse.exit_code == check.WORSE == 1


def test_what_is_better_is_listed_and_passes() -> None:
    report = compared(SAMPLE, replace(SAMPLE, code=99_499, stack=99_500))
    assert [d.figure for d in report.better] == ["code"]
    assert (report.checked, report.exit_code) == (1, check.PASSED)


def test_better_figures_do_not_make_up_for_a_worse_one() -> None:
    report = compared(SAMPLE, replace(SAMPLE, code=1, ram=200_000))
    assert [d.figure for d in report.worse] == ["ram"]
    assert report.exit_code == check.WORSE


def test_a_figure_that_was_0_is_worse_if_it_is_not_any_more() -> None:
    assert compared(replace(SAMPLE, weights=0), replace(SAMPLE, weights=1)).worse


def test_a_network_that_does_not_fit_any_more_is_worse_and_one_that_fits_now_better() -> None:
    assert [d.figure for d in compared(SAMPLE, None).worse] == ["fits"]
    assert [d.figure for d in compared(None, SAMPLE).better] == ["fits"]
    assert compared(None, None).exit_code == check.PASSED


def test_seconds_are_not_compared() -> None:
    slow = Results(results=(replace(results_of(SAMPLE).results[0], generate_s=99, build_s=99),))
    assert check.compare(results_of(SAMPLE), slow, [OF], {}).exit_code == check.PASSED


def test_what_could_not_be_measured_is_not_checked_and_the_exit_code_says_so() -> None:
    both = [OF, OTHER]
    report = check.compare(results_of(SAMPLE), results_of(SAMPLE), both, {OTHER: "no file"})
    assert report.unchecked == {OTHER: "no file"}
    assert (report.checked, report.exit_code) == (1, check.NOT_ALL_CHECKED)


def test_a_new_combination_and_another_model_are_not_checked() -> None:
    new = check.compare(Results(), results_of(SAMPLE), [OF], {})
    other = check.compare(results_of(SAMPLE), results_of(SAMPLE, sha256="b"), [OF], {})
    assert new.unchecked == {OF: "has no committed figures"}
    assert other.unchecked == {OF: "is not the file with which the committed figures were measured"}
    assert {new.exit_code, other.exit_code} == {check.NOT_ALL_CHECKED}


def test_another_compiler_is_named() -> None:
    before, now = Results(tools={"gcc": "12.2.1"}), Results(tools={"gcc": "13.1.0"})
    (note,) = check.compare(before, now, [], {}).notes
    assert note == "gcc is 13.1.0, but the committed figures are of 12.2.1"


@pytest.mark.parametrize(("now", "code"), [(100_501, 1), (100_000, 0), (90_000, 0)])
def test_the_command_prints_what_changed(
    now: int,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (tmp_path / results.NAME).write_text(results.text(results_of(SAMPLE)))
    found = pool.Measured(results_of(replace(SAMPLE, cycles=now)))
    monkeypatch.setattr(bench, "_measured", lambda *_: found)
    asked = ["--network", OF.network, "--board", OF.board, "--optimize", OF.optimize]
    assert bench.main(["check", *asked, "--docs", str(tmp_path)]) == code
    said = capsys.readouterr().out
    assert ("90,000" in said) == ("make bench" in said) == (now == 90_000)
    assert ("100,501" in said) == ("worse by more than 0.5 %" in said) == (code == 1)


def test_a_network_without_its_file_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("MICROGEN_MODELS", str(tmp_path))
    asked = ["--network", "kws", "--board", "mps2_an386", "--processes", "1"]
    assert bench.main(["check", *asked]) == check.NOT_ALL_CHECKED
    said = capsys.readouterr().out
    assert "not checked: kws (4 combinations): there is no " in said
    assert "0 combinations checked, 4 not" in said


def test_measuring_without_the_files_keeps_the_committed_figures_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    committed = results.FILE.read_text(encoding="utf-8")
    (tmp_path / results.NAME).write_text(committed, encoding="utf-8")
    monkeypatch.setenv("MICROGEN_MODELS", str(tmp_path))
    asked = ["--network", "kws", "--processes", "1", "--docs", str(tmp_path)]
    assert bench.main(["measure", *asked]) == 0
    assert (tmp_path / results.NAME).read_text(encoding="utf-8") == committed
    everything = matrix.load().combinations()
    absent = sum(c.network == "kws" for c in everything)
    said = capsys.readouterr().out
    assert f"not measured: kws ({absent} combinations): there is no " in said
    kept = f"{len(everything)} are as before"
    assert f"0 combinations measured, {absent} could not be; {kept}" in said


def test_a_measurement_that_fails_writes_nothing_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = ["--network", OTHER.network, "--board", OTHER.board]
    asked = matrix.load().select([OTHER.network], [OTHER.board], [])
    found = pool.Measured(results_of(SAMPLE), failed=dict.fromkeys(asked, "it hangs"))
    monkeypatch.setattr(bench, "_measured", lambda *_: found)
    for command in ("measure", "check"):
        assert bench.main([command, *names, "--docs", str(tmp_path)]) == 1
        assert f"ad ({len(asked)} combinations): it hangs" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--network", "nothing"], "--network: 'nothing' is not one of kws, vww"),
        (["check", "--network", "vww_fp32", "--board", "microbit"], "no combination of these"),
        (["measure", "--optimize", "ram"], "options that share a firmware"),
    ],
)
def test_wrong_arguments_are_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
