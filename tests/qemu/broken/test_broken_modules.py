"""Breaks firmware that loads modules out of its blob, and compares which checks fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microgen
from microgen.building import builder
from microgen.relay.blob import writer
from tests.qemu.broken import broken
from tests.qemu.broken.broken import Breakage
from tests.support.external_networks import convolution
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]
SOURCES = "model/codegen/host/src"
BLOB, LOADERS = f"{SOURCES}/default_blob.c", f"{SOURCES}/default_loaders.c"
MODULES, PARAMS = f"{SOURCES}/default_modules.c", f"{SOURCES}/default_params.c"


@pytest.fixture(scope="module", params=["aot", pytest.param("graph", marks=pytest.mark.slow)])
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("modules") / request.param
    microgen.generate(
        convolution(), "mps2_an386", project, codegen=("dnnl",), executor=request.param
    )
    builder.build(project)
    report = microgen.verify(project)
    assert report.ok, report.to_text()
    for name in ("module_blob", "module_loaders", "external_functions", "constants_bytes"):
        assert report.check(name).status == "ok"
    return project


def _edited(name: str, pattern: str, replacement: str) -> Breakage:
    def breakage(project: Path) -> None:
        path = project / name
        text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.MULTILINE)
        assert count == 1, pattern
        path.write_text(text)

    return breakage


def _in_blob(old: bytes, new: bytes, *, count: int = 1) -> Breakage:
    """Replaces bytes in the blob by as many others."""

    def breakage(project: Path) -> None:
        path = project / BLOB
        values = re.findall("0x([0-9a-f]{2}),", path.read_text())
        data = bytes.fromhex("".join(values))
        assert len(old) == len(new)
        assert data.count(old) >= count
        changed = data.replace(old, new, count)
        path.write_bytes(writer.source(changed, "default.relay", note="default_note.h"))

    return breakage


def _all(*breakages: Breakage) -> Breakage:
    def breakage(project: Path) -> None:
        for one in breakages:
            one(project)

    return breakage


BREAKAGES: dict[str, tuple[Breakage, set[str]]] = {
    "an attribute changed": (
        _in_blob(b'"padding": [["1", "1"', b'"padding": [["0", "1"'),
        {"module_blob"},
    ),
    "a shape changed": (
        _in_blob(b"[[[1, 4, 8, 8]]]", b"[[[1, 4, 8, 9]]]"),
        {"module_blob", "external_functions"},
    ),
    "a symbol renamed in the blob": (
        _in_blob(b"dnnl_main_2", b"dnnl_main_3", count=3),
        {"module_blob", "external_functions"},
    ),
    "two modules of one symbol": (
        _in_blob(b"dnnl_main_2", b"dnnl_main_0", count=3),
        {"module_blob", "external_functions"},
    ),
    "a count too large": (
        _in_blob(b"\5" + bytes(7) + b"\x0c", b"\6" + bytes(7) + b"\x0c"),
        {"module_blob", "external_functions"},
    ),
    "an unknown type key": (
        _in_blob(b"dnnl_json", b"dnnl_jsom"),
        {"module_blob", "external_functions"},
    ),
    "the blob in RAM": (_edited(BLOB, r"\.rodata\.tvm", ".data.blob"), {"module_blob"}),
    "a symbol asked for that is none": (
        _edited(MODULES, '"tvmgen_default_dnnl_main_2"', '"tvmgen_default_dnnl_main_4"'),
        {"external_functions"},
    ),
    "a constant elsewhere": (
        _edited(MODULES, r"\(void \*\)(tvmgen_default_\w+),", r"(void *)(\1 + 1),"),
        {"external_functions"},
    ),
    "a constant of another name": (
        _edited(MODULES, r'(\.name = "\w+_const)_0"', r'\1_7"'),
        {"external_functions"},
    ),
    "a constant of another shape": (
        _edited(MODULES, r"(kDLCPU, 0\},\s+\.ndim =) 4", r"\1 3"),
        {"external_functions"},
    ),
    "a constant's bytes": (
        _edited(PARAMS, r"^    (-?0x\S+), (-?0x\S+), ", r"    \2, \1, "),
        {"constants_bytes"},
    ),
    "a loader of another name": (
        _edited(LOADERS, "loadbinary_dnnl_json", "loadbinary_dnnl_jsom"),
        {"module_loaders"},
    ),
    "a function in the place of another": (
        _edited(
            LOADERS,
            r"^const mg_loader_run mg_loader_runs.*\n.*\n",
            "static tvm_crt_error_t own(void *m, uint32_t f, const mg_module_call *c)\n"
            "{ return (void)m, (void)c, f == 0U ? kTvmErrorNoError : kTvmErrorPlatformNoMemory; }\n"
            "const mg_loader_run mg_loader_runs[] = { own,\n",
        ),
        {"module_loaders"},
    ),
    "a writable table": (
        _all(
            _edited(
                "crt/src/modules/module_types.h",
                "MG_EXTERN const mg_loader_run",
                "MG_EXTERN mg_loader_run",
            ),
            _edited(LOADERS, "^const mg_loader_run", "mg_loader_run"),
        ),
        {"module_loaders", "stack"},
    ),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("what", BREAKAGES)
def test_a_broken_promise_fails_its_own_check_only(what: str, sound: Path) -> None:
    breakage, wanted = BREAKAGES[what]
    broken.check(breakage, wanted, sound)
