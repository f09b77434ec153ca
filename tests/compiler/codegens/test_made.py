"""Errors of external code generators are reported in one line, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.base.errors import CodegenError, MicrogenError, UnsupportedError
from microgen.compiler import codegens
from microgen.compiler.codegens.external import (
    CFunction,
    CSource,
    ExternalCodegen,
    ExternalFunction,
    InnerBuffer,
    LoadedModule,
    Runtime,
    RuntimeFunction,
)
from microgen.relay.transform import Support
from microgen.target.board import Board
from tests.support.places import SEED_DEMO

TOY = Runtime("toy", "toy", "toy.h")


class Wrong(ExternalCodegen):
    """Returns what the test gives it."""

    name = "wrong"

    def __init__(self, predicate: Callable[[Any], Any], made: Callable[[str], Any]) -> None:
        self.support = Support("wrong", {"nn.relu": predicate})
        self.made = made

    def compile(self, functions: Sequence[ExternalFunction], board: Board) -> Any:
        del board
        return self.made(functions[0].symbol)


def takes(_: object) -> None:
    """A predicate that takes everything."""


def c(symbol: str, **others: Any) -> list[CSource]:
    return [CSource(functions=(CFunction(symbol=symbol, kernel="k", **others),), code="")]


def loaded(symbol: str, **others: Any) -> list[LoadedModule]:
    given = {"runtime": TOY, "payload": b"", "pool_bytes": 0, **others}
    function = RuntimeFunction(symbol=symbol, kernel="k")
    return [LoadedModule(functions=(function,), **given)]


def fails(symbol: str) -> list[CSource]:
    raise ValueError(f"no idea of {symbol}")


def generated(
    generator: Wrong, folder: Path, monkeypatch: pytest.MonkeyPatch, *also: str
) -> MicrogenError:
    known = {"wrong": generator, **{name: codegens.registry()[name] for name in (*also, "builtin")}}
    monkeypatch.setattr(codegens, "registry", lambda *_: known)
    with pytest.raises(MicrogenError) as error:
        microgen.generate(SEED_DEMO, "native", folder, codegen=("wrong", *also))
    assert not folder.exists()
    assert error.value.exit_code == 2
    return error.value


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (fails, "compile ended with ValueError: no idea of tvmgen_default_wrong_main_0"),
        (lambda _: None, "compile ended with TypeError"),
        (lambda _: [], "made 'tvmgen_default_wrong_main_0' 0 times, expected once"),
        (lambda s: c(s) + c(s), "made 'tvmgen_default_wrong_main_0' 2 times"),
        (lambda s: c(s) + c("other"), "made 'other', which is not one of its functions"),
        (lambda _: ["text"], "made a str, expected a CSource or a LoadedModule"),
        (lambda s: c(s, scratch=-1), "-1 bytes of scratch"),
        (lambda s: c(s, scratch=2**31), "bytes of scratch"),
        (lambda s: c(s, scratch=8, places={"t": InnerBuffer(8)}), "in a scratch of 8 bytes"),
        (lambda s: c(s, places={"t": InnerBuffer(0)}), "in a scratch of 0 bytes"),
        (lambda s: c(s, scratch=8, places={"t": 4}), "has 't' at 4, in a scratch"),
        (lambda s: c(s, constants=(("w", np.zeros(3)),)), "constant 'w' of float64"),
        (lambda s: c(s, constants=(("w", [1]),)), "constant 'w' of list"),
        (lambda s: c(s, constants=(("a-b", np.zeros(1, "f4")),)), "not a C identifier"),
        (lambda s: c(s, constants=(("out0", np.zeros(1, "f4")),)), "a name that is taken"),
        (lambda s: c(s, constants=(("w", np.zeros(1, "f4")),) * 2), "a name that is taken"),
        (lambda s: loaded(s, pool_bytes=1.5), "takes 1.5 bytes of the module pool"),
        (lambda s: loaded(s, payload="text"), "a payload of str, expected bytes"),
        (lambda s: loaded(s, files={"a.c": "text"}), "gives 'a.c' as str, expected bytes"),
        (lambda s: loaded(s, runtime=Runtime("a b", "toy", "toy.h")), "a runtime named 'a b'"),
    ],
)
def test_what_cannot_be(
    made: Callable[[str], Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = generated(Wrong(takes, made), tmp_path / "p", monkeypatch)
    assert isinstance(error, CodegenError)
    assert words in str(error)
    assert str(error).startswith("wrong: ")


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        (lambda _: True, "answered True, expected None to accept"),
        (lambda _: "", "answered '', expected None to accept"),
        (lambda _: 1 // 0, "ended with ZeroDivisionError"),
    ],
)
def test_a_predicate_that_fails(
    predicate: Callable[[Any], Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = generated(Wrong(predicate, c), tmp_path / "p", monkeypatch)
    assert f"the predicate of wrong for nn.relu {words}" in str(error)


def test_files_outside_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Wrong(takes, lambda s: loaded(s, files={"../../x.c": b""}))
    error = generated(wrong, tmp_path / "p", monkeypatch)
    assert "refusing to generate a file at" in str(error)


def test_two_runtimes_of_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Wrong(takes, lambda s: loaded(s, runtime=Runtime("dnnl_json", "toy", "toy.h")))
    error = generated(wrong, tmp_path / "p", monkeypatch, "dnnl")
    assert isinstance(error, UnsupportedError)
    assert "2 runtimes are to load modules of type 'dnnl_json'" in str(error)
