"""Files that codegens bring for several models in one firmware."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import ProjectError
from tests.support.external_networks import TOY, convolution

MODELS = [(convolution(), "a"), (convolution(3), "b")]


def test_equal_files_of_several_models_are_there_once() -> None:
    files = microgen.compile_models(MODELS, "native", codegen=("toy",), codegen_path=TOY).files
    source = files.files["codegens/toy/toy.c"]
    alone = microgen.compile_model(convolution(), "native", codegen=("toy",), codegen_path=TOY)
    assert source == alone.files.files["codegens/toy/toy.c"]


def test_files_of_one_name_and_two_contents_are_refused(tmp_path: Path) -> None:
    source = (Path(TOY) / "toy.py").read_text()
    own = '{"include/toy.h": HEADER, "toy.c": SOURCE + function.symbol.encode()}'
    changed, count = re.subn(re.escape('{"include/toy.h": HEADER, "toy.c": SOURCE}'), own, source)
    assert count == 1
    (tmp_path / "toy.py").write_text(changed)
    with pytest.raises(ProjectError) as caught:
        microgen.compile_models(MODELS, "native", codegen=("toy",), codegen_path=str(tmp_path))
    assert str(caught.value) == (
        "codegens/toy/toy.c: the codegen toy makes two different files of this name; "
        "files that depend on the model need its symbols in their names"
    )
