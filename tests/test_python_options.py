"""Options from Python: texts mean what they mean on the command line; a mistake says its fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen import options
from microgen.options import Options
from tests.support.places import SMALL


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({"ram": "40K"}, {"ram": 40960}),
        ({"flash": "1M"}, {"flash": 1 << 20}),
        ({"stack": "1K", "stack_margin": "256"}, {"stack": 1024, "stack_margin": 256}),
        ({"ram": np.int64(40000)}, {"ram": 40000}),
        ({"codegen": "cmsis-nn,ccompiler"}, {"codegen": ("cmsis-nn", "ccompiler")}),
        ({"pool": "a:1K"}, {"pool": ("a:1K",)}),
        ({"dim": ["n=3"]}, {"dim": ("n=3",)}),
        ({"codegen_path": Path("there")}, {"codegen_path": "there"}),
        ({"input_rows": "8"}, {"input_rows": 8}),
    ],
)
def test_values_are_those_of_the_command_line(given: dict[str, Any], same: dict[str, Any]) -> None:
    assert Options.of(given) == Options(**same)
    assert Options(**given) == Options(**same)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"optimise": "ram"}, "there is no option 'optimise'; did you mean optimize? options: "),
        ({"zzz": 1}, "there is no option 'zzz'; options: name, "),
        ({"ram": "4q"}, "--ram: '4q' is not a size: expected bytes"),
        ({"ram": 40.5}, "--ram: is 40.5 (float), expected a whole number, or a text such as"),
        ({"ram": True}, "--ram: is True (bool), expected a whole number"),
        ({"ram": None}, "--ram: is None (NoneType), expected a whole number"),
        ({"optimize": None}, "--optimize: is None (NoneType), expected a text"),
        ({"codegen": {"ccompiler"}}, "--codegen: is {'ccompiler'} (set), expected a tuple or"),
        ({"codegen_path": ("a",)}, "--codegen-path: is ('a',) (tuple), expected a text"),
        ({"link_params": "off"}, "--link-params: is 'off' (str), expected True or False"),
        ({"output_workspace": 1}, "--output-workspace: is 1 (int), expected True, False or None"),
        ({"bind": [3]}, "--bind: is [3] (list), expected a tuple or list of texts"),
    ],
)
def test_a_mistake_says_its_fix(given: dict[str, Any], said: str) -> None:
    with pytest.raises(microgen.MicrogenError) as error:
        microgen.compile_model(SMALL, "native", **given)
    assert str(error.value).startswith(said)
    assert error.value.exit_code == 2


def test_every_option_has_a_type_that_is_checked() -> None:
    class Other:
        pass

    for name in options.Options.__dataclass_fields__:
        with pytest.raises(microgen.MicrogenError, match=r"\(Other\), expected"):
            Options.of({name: Other()})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda _: microgen.compile_model(None, "native"), "model: is a NoneType, expected"),  # type: ignore[arg-type]
        (lambda _: microgen.compile_model(SMALL, 3), "board: is a int, expected"),  # type: ignore[arg-type]
        (lambda _: microgen.generate(SMALL, "native", None), "output: is a NoneType"),  # type: ignore[arg-type]
        (
            lambda p: microgen.generate(SMALL, "native", p, force="no"),
            "--force: is 'no' (str), expect",
        ),  # type: ignore[arg-type]
        (lambda p: microgen.export(p, p, force=0), "--force: is 0 (int), expected True or False"),  # type: ignore[arg-type]
        (lambda _: microgen.compile_models(SMALL, "native"), "models: is one path"),  # type: ignore[arg-type]
        (lambda _: microgen.compile_models([(SMALL, "a", 1)], "native"), "models: has "),  # type: ignore[list-item]
        (
            lambda _: microgen.compile_models([SMALL], "native", name="a"),
            "--name: is given with each model",
        ),
        (lambda p: microgen.verify(p, elfs="x"), "there is no option 'elfs'; did you mean elf?"),
        (lambda p: microgen.verify(p, scope="all"), "--scope: is 'all' (str), expected one of"),
        (lambda p: microgen.verify(p, elf=3), "--elf: is 3 (int), expected a path or None"),
        (lambda p: microgen.verify(p, elf=str(p / "absent.elf")), "{p}/absent.elf: "),
        (lambda p: microgen.run(p, np.zeros(3)), "inputs: is a ndarray, expected a mapping"),  # type: ignore[arg-type]
        (lambda p: microgen.run(p, timeout="1"), "--timeout: is 1, expected more than 0"),  # type: ignore[arg-type]
        (lambda _: microgen.build(None), "project: is a NoneType, expected a path"),  # type: ignore[arg-type]
    ],
)
def test_other_arguments(call: Any, said: str, tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "native", project)
    with pytest.raises(microgen.MicrogenError) as error:
        call(project)
    assert str(error.value).startswith(said.replace("{p}", str(project)))
