"""The checks of modules on ELFs with changed bytes: each payload must agree with the partition."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.verifier import verify
from tests.support.external_networks import TOY, convolution
from tests.support.places import BYOC_GUIDE
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA
BOTH = {"module_blob", "external_functions"}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built project of two models: one has a JSON graph and an unknown payload, the other the
    guide's text."""
    project = tmp_path_factory.mktemp("modules") / "p"
    microgen.generate_models(
        [(convolution(), "a"), (BYOC_GUIDE, "b")],
        *("native", project),
        codegen=("toy", "examplejsoncompiler", "dnnl"),
        codegen_path=TOY,
    )
    microgen.build(project)
    assert verify(project).ok
    return project


@pytest.mark.parametrize(
    ("old", "new", "wanted", "text"),
    [
        (
            *(b"add 2 inputs: 0 1 shape: 10 10", b"sub 2 inputs: 0 1 shape: 10 10"),
            *({"module_blob"}, "is not the planned one of examplejson"),
        ),
        (
            *(b"input 0 10 10\n  input 1 10 10\n  add", b"input 0 10 11\n  input 1 10 11\n  add"),
            *(BOTH, "tvmgen_b_examplejsoncompiler_main_0 cannot be read: ExampleJSON:4"),
        ),
        (
            *(b"subgraph_0: tvmgen_b_ex", b"subgraph_0: tvmgen_c_ex"),
            *(BOTH, "0 modules of the blob provide tvmgen_b_examplejsoncompiler_main_0"),
        ),
        (
            *(b"tvmgen_a_toy_main_2" + bytes([0, 1]), b"tvmgen_a_toy_main_2" + bytes([1, 1])),
            *(BOTH, "the payload is not one of the 1 known ones"),
        ),
        (
            *(b'"shape": [[[4, 4, 3, 3]]]', b'"shape": [[[4, 4, 3, 4]]]'),
            *(BOTH, "float32[4,4,3,4], planned dnnl_tvmgen_a_dnnl_main_0_const_0"),
        ),
        (
            *(b"loadbinary_toy\0", b"loadbinary_tox\0"),
            *(
                {"module_loaders"},
                "runtime.module.loadbinary_tox is a loader, but no module needs it",
            ),
        ),
    ],
    ids=["operator", "shape", "symbol", "unknown payload", "constant", "loader"],
)
def test_changed_bytes_are_found(
    old: bytes, new: bytes, wanted: set[str], text: str, sound: Path, tmp_path: Path
) -> None:
    data = (sound / "build" / "firmware.elf").read_bytes()
    assert data.count(old) == 1
    changed = tmp_path / "firmware.elf"
    changed.write_bytes(data.replace(old, new))
    report = verify(sound, elf=changed)
    assert {check.name for check in report.failed} == wanted
    assert any(text in check.found for check in report.failed), report.to_text()
