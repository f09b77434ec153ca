"""``microgen zoo`` without a cluster: lists, results that are kept, tables, exit codes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from microgen.base.errors import BuildError, MicrogenError, ProjectError, ToolError
from microgen.interface import api
from microgen.interface.zoo import cluster, identity, listing, results, runs, stages, table, work
from microgen.interface.zoo.results import Cell, Store, failed
from microgen.interface.zoo.work import Done, Task
from tests.interface.commands.conftest import ROOT, Run
from tests.interface.zoo import models

HOSTILE = "\x1b]0;owned\x07\u202e\u2028[red]|`*<b> {0}%s"

OK = Cell("ok", "compare", sizes={"flash": 1234, "workspace": 56}, compared={"numpy": "ok"})


class Fake:
    """A cluster that runs nothing: results by the name of a model's first bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tasks: list[Task] = []
        self.by_board: dict[str, Done] = {}
        monkeypatch.setattr(cluster, "connected", self._connected)
        monkeypatch.setattr(cluster, "results", self._results)
        monkeypatch.setattr(cluster, "check_installed", lambda: None)

    @contextlib.contextmanager
    def _connected(self, *_: object) -> Iterator[None]:
        yield

    def _results(self, _: None, tasks: Iterator[tuple[str, Task]]) -> Iterator[tuple[str, Done]]:
        for key, task in tasks:
            self.tasks.append(task)
            yield key, self.by_board.get(task.board, Done(OK))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(monkeypatch)


@pytest.fixture
def zoo(tmp_path: Path) -> list[str | Path]:
    """The command for a list with two models, of which one has two names."""
    (tmp_path / "a.tflite").write_bytes(b"a")
    (tmp_path / "b.lite").write_bytes(b"b")
    (tmp_path / "same.tflite").write_bytes(b"a")
    path = tmp_path / "list.txt"
    path.write_text("a.tflite\nb.lite\nsame.tflite\n")
    return ["zoo", path, "-o", tmp_path / "out", "--boards", "native"]


def test_a_list(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(
        b"# models\r\n a.tflite \r\n\nb#1.tflite\t# one\n\xff.tflite\n/m/c d.h\na.tflite\n#x"
    )
    found = listing.read(path)
    assert [(entry.line, entry.name) for entry in found] == [
        (2, "a.tflite"),
        (4, "b#1.tflite"),
        (5, "\udcff.tflite"),
        (6, "/m/c d.h"),
    ]
    assert [entry.path for entry in found[2:]] == [
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.tflite")),
        Path("/m/c d.h"),
    ]


def test_a_line_may_have_sizes_and_values(fake: Fake, run: Run, tmp_path: Path) -> None:
    """Workers get the files of values; a result depends on what is in them."""
    (tmp_path / "values").mkdir()
    for name, data in (("m.onnx", b"m"), ("values/a.npy", b"a"), ("values/b.npy", b"a")):
        (tmp_path / name).write_bytes(data)
    lines = [f"m.onnx --dim H=4  --bind s=[1,2] --bind x=values/{n}.npy" for n in ("a", "b")]
    (tmp_path / "list.txt").write_text("\n".join([*lines, "m.onnx", "m.onnx --bind x=no.npy"]))
    command = ["zoo", tmp_path / "list.txt", "-o", tmp_path / "out", "--boards", "native"]
    assert run([*command, "--dim", "W=5"]).code == 1
    assert [task.options["dim"] for task in fake.tasks] == [["W=5", "H=4"], ["W=5"]]
    assert [task.options["bind"] for task in fake.tasks] == [["s=[1,2]", "x=bind0.npy"], []]
    assert fake.tasks[0].files == {"model.onnx": b"m", "bind0.npy": b"a"}
    found = json.loads((tmp_path / "out" / "zoo.json").read_text())["models"]
    assert [model["model"] for model in found][:2] == lines
    assert found[3]["cells"]["native"]["cause"] == "no such file, in line 4 of the list"
    (tmp_path / "values" / "b.npy").write_bytes(b"other")
    run([*command, "--dim", "W=5"])
    assert [task.files["bind0.npy"] for task in fake.tasks[2:]] == [b"other"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, ": no such file; give a text file with paths of models"),
        (b"", ": names no model; write one path per line; # begins a comment"),
        (b"# none\n\n", ": names no model; write one path per line; # begins a comment"),
        (
            b"a\nb\0c\n",
            ":2: a path cannot contain a null character; give a text file with one path",
        ),
    ],
)
def test_other_lists_are_refused(
    run: Run, fake: Fake, content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "list.txt"
    if content is not None:
        path.write_bytes(content)
    ran = run(["zoo", path, "-o", tmp_path / "out"])
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"microgen: {path}{said}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--boards", "native,moon"], "moon"),
        (["--boards", ","], "--boards: names no board; `microgen boards` lists them"),
        (["--workers", "0"], "argument --workers: '0' is not a number of processes"),
        (["--timeout", "-1"], "argument --timeout: '-1' is not a number of seconds"),
        (["--numerics", "exact"], "exact"),
        (["--codegen", "absent"], "absent"),
        (["--scheduler", "foo"], "argument --scheduler: 'foo' is not an address such as tcp://"),
        (["--scheduler", "tcp://x"], "argument --scheduler: 'tcp://x' is not an address such as"),
        (["--scheduler", "tcp://x:65536"], "'tcp://x:65536' is not an address such as tcp://"),
        (["--scheduler", "tcp://x:1", "--workers", "2"], "--workers: is for a cluster on this"),
    ],
)
def test_wrong_arguments_do_nothing(
    run: Run, fake: Fake, zoo: list[str | Path], arguments: list[str], said: str
) -> None:
    ran = run([*zoo, *arguments])
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err
    assert said in ran.err
    assert not fake.tasks


def test_other_folders_are_not_written_into(
    run: Run, fake: Fake, zoo: list[str | Path], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").touch()
    ran = run(zoo)
    assert ran.code == 2
    assert "contains 'thesis.tex' and no results of `microgen zoo`; choose another -o" in ran.err
    with pytest.raises(ProjectError, match="cannot write there: "):
        Store(Path("/proc/self/zoo")).open()


def test_without_dask_it_says_what_to_type(
    run: Run, zoo: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    ran = run([*zoo, "-q"])
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("microgen: `microgen zoo` needs Dask: ")
    assert ran.err.endswith("; pip install 'distributed>=2024.8'\n")


def test_equal_models_are_done_once_and_results_are_kept(
    run: Run, fake: Fake, zoo: list[str | Path], tmp_path: Path
) -> None:
    assert run(zoo).code == 0
    assert [list(task.files) for task in fake.tasks] == [["model.tflite"], ["model.lite"]]
    made = (tmp_path / "out" / "zoo.json").read_bytes()
    assert run(zoo).code == 0
    assert len(fake.tasks) == 2
    assert (tmp_path / "out" / "zoo.json").read_bytes() == made
    (tmp_path / "b.lite").write_bytes(b"changed")
    assert run(zoo).code == 0
    assert [bytes(task.files["model.lite"]) for task in fake.tasks[2:]] == [b"changed"]
    assert run([*zoo, "--numerics", "tflm"]).code == 0
    assert len(fake.tasks) == 5
    assert run([*zoo[:-1], "native,mps2_an386"]).code == 0
    assert [task.board for task in fake.tasks[5:]] == ["mps2_an386", "mps2_an386"]


def test_another_microgen_or_litert_does_everything_again(
    run: Run, fake: Fake, zoo: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(zoo)
    monkeypatch.setattr(identity, "own", lambda: "another")
    run(zoo)
    assert len(fake.tasks) == 4
    monkeypatch.setattr(identity, "_oracle", lambda: "9.9")
    run(zoo)
    assert len(fake.tasks) == 6


def test_damaged_results_are_done_again(
    run: Run, fake: Fake, zoo: list[str | Path], tmp_path: Path
) -> None:
    run(zoo)
    first, second = sorted((tmp_path / "out" / "cells").iterdir())
    for damage in (b"", b"[]", b"{}", b'{"status": "ok"', b"[" * 10**5):
        first.write_bytes(damage)
        run(zoo)
    second.write_text(second.read_text().replace('"ok"', '"fine"', 1))
    run(zoo)
    assert len(fake.tasks) == 2 + 5 + 1


def test_what_ended_at_a_limit_is_tried_with_a_higher_one(
    run: Run, fake: Fake, zoo: list[str | Path]
) -> None:
    fake.by_board["native"] = Done(failed("run", "did not end within 5 s", limit=5.0))
    assert run([*zoo, "--timeout", "5"]).code == 1
    assert run([*zoo, "--timeout", "4"]).code == 1
    assert len(fake.tasks) == 2
    run([*zoo, "--timeout", "6"])
    assert len(fake.tasks) == 4


def test_what_was_killed_is_not_kept(run: Run, fake: Fake, zoo: list[str | Path]) -> None:
    fake.by_board["native"] = Done(failed("run", "was killed"), is_lasting=False)
    assert run(zoo).code == 1
    fake.by_board.clear()
    assert run(zoo).code == 0


def test_refusals_are_no_failures_and_are_counted_by_cause(
    run: Run, fake: Fake, zoo: list[str | Path], tmp_path: Path
) -> None:
    cause = 'layer "x7" (SORT): operator SORT with 3 axes is not supported'
    fake.by_board["native"] = Done(Cell("refused", "generate", cause))
    ran = run([*zoo, "--json"])
    assert ran.code == 0
    data = json.loads(ran.out)
    schema = json.loads((ROOT / "docs" / "schemas" / "zoo.json").read_text())
    jsonschema.validate(data, schema)
    assert data["counts"] == {"native": {"ok": 0, "refused": 3, "failed": 0}}
    (found,) = data["causes"]
    assert found["cause"] == "(SORT): operator SORT with N axes is not supported"
    assert [cell["model"] for cell in found["cells"]] == ["a.tflite", "b.lite", "same.tflite"]
    assert cause.replace('"', '\\"') in (tmp_path / "out" / "zoo.json").read_text()


def test_a_model_that_cannot_be_read_is_a_failure_of_its_line(
    run: Run, fake: Fake, zoo: list[str | Path], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "list.txt").write_text("a.tflite\n\nabsent.tflite\npipe\n.\n")
    ran = run(zoo)
    assert ran.code == 1
    found = json.loads((tmp_path / "out" / "zoo.json").read_text())["models"]
    causes = [model["cells"]["native"]["cause"] for model in found]
    assert causes == [
        "",
        "no such file, in line 3 of the list",
        "is not a regular file, in line 4 of the list",
        "is not a regular file, in line 5 of the list",
    ]
    assert len(fake.tasks) == 1


def test_a_worker_that_cannot_work_ends_the_run(
    run: Run, fake: Fake, zoo: list[str | Path], tmp_path: Path
) -> None:
    fake.by_board["native"] = Done(OK, refusal="ninja is not installed", hint="get it")
    ran = run([*zoo, "-q"])
    assert (ran.code, ran.out, ran.err) == (2, "", "microgen: ninja is not installed; get it\n")
    assert not list((tmp_path / "out" / "cells").iterdir())


def test_what_is_not_installed_is_said_once(run: Run, fake: Fake, zoo: list[str | Path]) -> None:
    lacking = Cell("ok", "compare", compared={"LiteRT": "n/a"}, lacking="no LiteRT (pip ...)")
    fake.by_board["native"] = Done(lacking)
    for _ in range(2):  # results that were kept say it, too
        ran = run(zoo)
        assert ran.code == 0
        assert ran.err.count("no LiteRT (pip ...)") == 1
    assert "| ok (not compared: LiteRT) |" in (Path(zoo[3]) / "zoo.md").read_text()


@pytest.mark.parametrize("columns", [0, 80])
def test_hostile_names_are_quoted(
    run: Run, fake: Fake, zoo: list[str | Path], tmp_path: Path, columns: int
) -> None:
    (tmp_path / HOSTILE.replace("/", "")).write_bytes(b"x")
    (tmp_path / "list.txt").write_text(f"{HOSTILE}\nabsent{HOSTILE}\n")
    fake.by_board["native"] = Done(Cell("refused", "generate", f"a layer {HOSTILE}"))
    ran = run(zoo, columns)
    assert ran.code == 1
    for text in (ran.out, ran.err, (tmp_path / "out" / "zoo.md").read_text()):
        assert text.replace("\n", "").isprintable()
    written = (tmp_path / "out" / "zoo.md").read_text()
    assert "<b>" not in written.replace("\\<b", "")
    assert all(line.replace("\\|", "").count("|") == 9 for line in written.splitlines()[-2:])
    data = json.loads((tmp_path / "out" / "zoo.json").read_text())
    assert data["models"][0]["model"] == HOSTILE
    assert (tmp_path / "out" / "zoo.json").read_text().isascii()


def test_numbers_and_names_are_generalised() -> None:
    assert table.general('layer "a" (X): "b" needs 1,024 bytes of 12; int8, 3.5 not -1') == (
        '(X): "..." needs N bytes of N; int8, N not N'
    )


def row(cells: dict[str, Cell]) -> runs.ModelRow:
    return runs.ModelRow(listing.ListedModel(1, "m.tflite", Path("m.tflite")), "00", cells)


def test_the_table_has_no_times_and_failures_come_first() -> None:
    rows = [
        row({"native": Cell("refused", "generate", "no", seconds=1.0), "microbit": OK}),
        row({"native": failed("compare", "differs", seconds=2.0), "microbit": OK}),
    ]
    assert [cause.status for cause in table.causes(rows)] == ["failed", "refused"]
    assert "seconds" not in json.dumps(table.data(rows, {}))
    assert [one["seconds"] for one in table.seconds(rows)] == [1.0, 0.0, 2.0, 0.0]
    assert "| m.tflite | native | failed (compare) | differs |  |  |  |  |" in table.markdown(rows)
    assert "| m.tflite | microbit | ok |  | 1,234 |  | 56 |  |" in table.markdown(rows)


def task(limit: float = 60.0, **files: bytes) -> Task:
    return Task("run", identity.own(), files or {"model.tflite": b"x"}, "native", {}, limit)


def standin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    """Puts other code in the place of the stages."""
    (tmp_path / "zoo_standin.py").write_text(f"import os, sys, time\n{code}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(work, "_PROGRAM", "zoo_standin")


AT_RUN = "open('stage.txt', 'w').write('run'); "


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("os.abort()", "microgen itself ended with signal 6"),
        ("sys.exit(3)", "microgen itself ended with exit code 3"),
        ("time.sleep(60)", "did not end within 1 s"),
    ],
)
def test_a_crash_is_a_failed_cell(
    code: str, cause: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    standin(monkeypatch, tmp_path, AT_RUN + code)
    done = work.done(task(limit=1.0))
    assert (done["cell"]["status"], done["cell"]["stage"]) == ("failed", "run")
    assert (done["cell"]["cause"], done["is_lasting"]) == (cause, True)
    assert done["cell"]["limit"] == (1.0 if "end within" in cause else 0.0)


def test_a_process_that_others_kill_is_started_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    count = f"open('{tmp_path}/count', 'a').write('x'); "
    standin(monkeypatch, tmp_path, count + "os.kill(os.getpid(), 9)")
    done = work.done(task())
    assert (tmp_path / "count").read_text() == "xxx"
    assert not done["is_lasting"]
    assert done["cell"]["cause"] == "its process was killed 3 times"


def test_the_cells_of_a_run_end_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    standin(monkeypatch, tmp_path, f"open('{tmp_path}/began', 'w'); time.sleep(60)")
    with ThreadPoolExecutor() as pool:
        done = pool.submit(work.done, replace(task(), run="to be ended"))
        while not (tmp_path / "began").exists():
            time.sleep(0.05)
        asyncio.run(work.end("to be ended"))
        assert not done.result(20)["is_lasting"]
    again = work.done(replace(task(), run="to be ended"))
    assert (again["is_lasting"], again["cell"]["cause"]) == (False, "the run was ended")


def test_a_worker_with_another_microgen_does_nothing() -> None:
    other = Task("run", "another", {"model.tflite": b""}, "native", {}, 1.0)
    done = work.done(other)
    assert done["refusal"].startswith("a worker has another microgen (")


def stages_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, name: str = "model.tflite"
) -> Any:
    (folder / name).write_bytes(data)
    asked = {"model": name, "board": "native", "options": {"codegen": ["builtin"]}}
    (folder / results.TASK).write_text(json.dumps(asked))
    monkeypatch.setattr(sys, "argv", ["stages", str(folder)])
    assert stages.main() == 0
    return json.loads((folder / results.RESULT).read_text())


@pytest.mark.parametrize(
    ("name", "data", "cause"),
    [
        (
            "model.tflite",
            models.refused(),
            'has operators that are not supported: RFFT2D in "y"',
        ),
        ("model.tflite", models.valid()[:200], "is truncated or corrupt: "),
        ("model.pb", b"", "has the suffix '.pb', which no frontend reads"),
        ("model.zip", b"", "is an archive"),
    ],
)
def test_refusals_have_no_paths(
    name: str, data: bytes, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = stages_of(tmp_path, monkeypatch, data, name)["cell"]
    assert (found["status"], found["stage"]) == ("refused", "generate")
    assert found["cause"].startswith(cause)
    assert str(tmp_path) not in json.dumps(found)


def test_failures_name_their_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(error: Exception) -> Any:
        def raising(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(api, "build", raising)
        return stages_of(tmp_path, monkeypatch, models.valid())

    where = str(tmp_path / "project")
    broken = ended(BuildError("ninja failed: x.c:3: no", where=where, hint=f"see {where}/log"))
    assert broken["cell"]["status"] == "failed"
    assert broken["cell"]["stage"] == "build"
    assert broken["cell"]["cause"] == "ninja failed: x.c:3: no"
    assert broken["cell"]["hint"] == "see project/log"
    unexpected = ended(KeyError("x"))
    assert unexpected["cell"]["status"] == "failed"
    assert "unexpected KeyError" in unexpected["cell"]["cause"]
    missing = ended(ToolError("cmake is not installed", hint="apt-get install cmake"))
    assert (missing["refusal"], missing["hint"]) == (
        "cmake is not installed",
        "apt-get install cmake",
    )


def test_a_changed_model_is_noticed_when_it_is_sent(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(b"1")
    entry = listing.ListedModel(1, "m.tflite", path)
    plan = runs.ZooPlan([entry], ["native"], {}, 1.0)
    store = Store(tmp_path / "out")
    store.open()
    monkeypatch.setattr(store.__class__, "get", lambda *_: path.write_bytes(b"2") and None)
    with pytest.raises(MicrogenError, match="has changed in the meantime"):
        runs.run(plan, store, print)
