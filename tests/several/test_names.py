"""Names of modules. They are refused if C or a file system could not distinguish two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.base.errors import MicrogenError
from microgen.base.names import module_names
from tests.several import models


def test_without_names_one_model_is_default_and_several_are_their_files() -> None:
    assert module_names.given((), [Path("a/kws.tflite")]) == ("default",)
    files = [Path("a/kws-v1.tflite"), Path("b.x/ad01.relay")]
    assert module_names.given((), files) == ("kws_v1", "ad01")
    assert module_names.given(("a", ""), files) == ("a", "ad01")


@pytest.mark.parametrize(
    ("names", "files", "message"),
    [
        (("a", "b"), ["x.tflite"], "2 names for 1 models: 'a', 'b'"),
        (("a",), ["x.tflite", "y.tflite"], "1 names for 2 models: 'a'"),
        ((), ["_x.tflite", "y.tflite"], "'_x' cannot name a module"),
        (("a", "b-c"), ["x.tflite", "y.tflite"], "'b-c' cannot name a module"),
    ],
)
def test_names_that_do_not_fit(names: tuple[str, ...], files: list[str], message: str) -> None:
    with pytest.raises(MicrogenError, match=message) as caught:
        module_names.given(names, [Path(name) for name in files])
    assert caught.value.where == "--name"


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("kws", "kws"), "'kws' and 'kws' cannot be in one firmware: they share a name"),
        (("kws", "KWS"), "they share a name in upper case, which macros use"),
        (("a", "a_lib1"), "both define TVMGEN_A_LIB1_H_"),
        (("a", "a_fused"), ""),
    ],
)
def test_names_alike(names: tuple[str, str], words: str, tmp_path: Path) -> None:
    files = models.written(tmp_path)
    pairs = [(files["kws"], names[0]), (files["wide"], names[1])]
    if not words:  # they look alike but differ
        assert len(microgen.compile_models(pairs, "native").models) == 2
        return
    with pytest.raises(MicrogenError, match=words) as caught:
        microgen.compile_models(pairs, "native")
    assert all(repr(name) in str(caught.value) for name in names)


def test_a_module_and_its_input_against_a_longer_module(tmp_path: Path) -> None:
    (tmp_path / "one.tflite").write_bytes(models.dense(tensor="b_x"))
    (tmp_path / "two.tflite").write_bytes(models.dense(tensor="x"))
    with pytest.raises(MicrogenError, match=r"'a' and 'a_b' .* both define TVMGEN_A_B_X_COUNT"):
        microgen.compile_models(
            [(tmp_path / "one.tflite", "a"), (tmp_path / "two.tflite", "a_b")], "native"
        )


def test_files_that_only_differ_in_case_or_are_one(tmp_path: Path) -> None:
    files = models.written(tmp_path)
    pairs = [(files["kws"], "a"), (files["wide"], "a_graph")]
    with pytest.raises(MicrogenError, match=r"both have the file tvmgen_a_graph\.h"):
        microgen.compile_models(pairs, "native", executor="graph")


def test_external_functions_have_the_names_that_models_give_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.relay").write_text(models.EXTERNAL)
    files = [tmp_path / "one.relay", tmp_path / "two.relay"]
    with pytest.raises(MicrogenError, match=r"'one' and 'two' cannot .* both define npu_0"):
        microgen.compile_models(files, "native", targets=("npu",))


def test_what_comments_quote_does_not_clash(tmp_path: Path) -> None:
    """A tensor may have the name of another module's symbol: C sees only the sanitised name."""
    (tmp_path / "one.tflite").write_bytes(models.dense(tensor="x;tvmgen_b_run"))
    files = models.written(tmp_path)
    pairs = [(tmp_path / "one.tflite", "a"), (files["wide"], "b")]
    assert len(microgen.compile_models(pairs, "native").models) == 2
