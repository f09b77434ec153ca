from __future__ import annotations

import re

import jinja2
import pytest

from microgen.base import resources
from microgen.base.errors import InternalError, ProjectError
from microgen.base.files import FileTree
from microgen.project.emit.environment import environment
from microgen.project.firmware import crt_files
from microgen.target import board as boards
from tests.support.minimal_project import assemble, model_files

COMMON = {
    "CMakeLists.txt",
    "Kconfig",
    "LICENSE",
    "NOTICE",
    "README.md",
    "boards/zephyr.ld",
    "model/CMakeLists.txt",
    "prj.conf",
    "sample.yaml",
    "west/microgen_commands.py",
    "west/west-commands.yml",
    "west/west.yml",
    "src/main.c",
    "src/platform.c",
    "src/platform_zephyr.c",
    "crt/src/platform/io.c",
    "crt/src/platform/io.h",
    "crt/src/platform/semihosting.c",
    "crt/src/platform/semihosting.h",
    "crt/src/platform/semihosting_io.c",
    "crt/src/platform/semihosting_io.h",
    *(f"crt/{name}" for name in crt_files.tvm_files()),
    *model_files().files,
}


def test_a_board_gets_its_start_up_code_and_linker_script() -> None:
    assert set(assemble("mps2_an386").files) == COMMON | {
        "boards/mps2_an386.ld",
        "boards/stack.cmake",
        "boards/startup.c",
        "crt/src/platform/freestanding.c",
        "crt/src/platform/freestanding.h",
        "crt/src/platform/start.c",
        "crt/src/platform/start.h",
        "crt/libc/stdint.h",
        "crt/libc/string.h",
    }


def test_the_host_gets_neither_start_up_code_nor_a_library() -> None:
    assert set(assemble("native").files) == COMMON | {"boards/native.ld"}


def test_every_project_has_tvms_headers_and_the_sources_of_what_they_declare() -> None:
    headers = {name for name in crt_files.tvm_files() if name.startswith("include/")}
    folder = resources.folder("crt") / "include"
    tvms = [path for top in ("tvm", "dlpack") for path in (folder / top).rglob("*.h")]
    known = {f"include/{path.relative_to(folder).as_posix()}" for path in tvms}
    graphs = {f"include/tvm/runtime/crt/graph_executor{end}.h" for end in ("", "_types")}
    own = {"include/crt_config.h", "include/microgen/inline.h"}
    assert headers == known - graphs | own
    files = crt_files.tvm_files()
    text = "".join(data.decode() for name, data in files.items() if name[-2:] == ".c")
    declared = {
        function
        for name in headers
        for function in re.findall(r"^[\w *]*?\b(\w+)\([^()]*\)[^;{}()]*;$", _code(name), re.M)
    }
    given = {"TVMPlatformAbort", "TVMPlatformInitialize", "TVMSystemLibEntryPoint"}
    given |= {"TVMPlatformTimerStart", "TVMPlatformTimerStop"}  # by the platform and the model
    assert len(declared) > 30
    assert not [
        name for name in declared - given if not re.search(rf"\b{name}\([^;]*?\)\n{{", text)
    ]


def _code(header: str) -> str:
    """A header of the project without comments and with each declaration in one line."""
    text = re.sub(r"/\*.*?\*/", "", crt_files.tvm_files()[header].decode(), flags=re.S)
    text = re.sub(r"__attribute__\(\(.*?\)\)+", "", text)
    return re.sub(r",\n +", ", ", text)


def test_the_build_links_them_only_if_it_is_told_to() -> None:
    cmake = assemble("mps2_an386").files["CMakeLists.txt"].decode()
    assert 'option(MICROGEN_TVM_RUNTIME "Link' in cmake
    without = re.sub(r"^( *)if\(MICROGEN_TVM_RUNTIME\).*?^\1endif", "", cmake, flags=re.S | re.M)
    sources = [n for n in crt_files.tvm_files() if n[-2:] == ".c" and "/io.c" not in n]
    assert len(sources) == 10
    assert all(cmake.count(f" crt/{name}\n") == 2 for name in sources)
    assert not [name for name in sources if f"crt/{name}" in without]


def test_a_kernel_brings_its_headers_and_theirs() -> None:
    added = set(assemble("native", kernels=("conv2d_s8",)).files) - set(assemble("native").files)
    assert {
        "crt/kernels/conv2d_s8.c",
        "crt/include/microgen/convolution/s8/conv2d_s8.h",
        "crt/include/microgen/requantization/scaling_s8.h",
    } <= added
    assert not any("dense" in name or "pool" in name for name in added)


def test_a_kernel_is_compiled_as_the_model_is() -> None:
    cmake = assemble("native", kernels=("conv2d_s8",)).files["CMakeLists.txt"].decode()
    model, rest = cmake.split("set(RUNTIME_SOURCES")
    assert "  crt/kernels/conv2d_s8.c\n" in model
    assert "conv2d" not in rest


def test_a_kernel_that_is_not_there_is_a_defect() -> None:
    with pytest.raises(InternalError, match=r"crt/\S+/none_s8\.[ch] is missing"):
        assemble("native", kernels=("none_s8",))


@pytest.mark.parametrize("board", boards.available())
def test_the_project_is_the_same_each_time_and_holds_no_template_syntax(board: str) -> None:
    files = assemble(board).files
    assert files == assemble(board).files
    assert not [name for name, text in files.items() if b"{{" in text or b"{%" in text]


@pytest.mark.parametrize("board", [b for b in boards.available() if b != "native"])
def test_the_linker_script_has_the_boards_memories_and_stack(board: str) -> None:
    data = boards.load(board)
    script = assemble(board).files[f"boards/{board}.ld"].decode()
    used = {data.flash, data.ram, data.large_constants}
    assert len([m for m in data.memories if m.name in used]) >= 2
    for memory in (m for m in data.memories if m.name in used):
        assert (
            f"{memory.name} ({memory.access}) : ORIGIN = 0x{memory.origin:08x}, "
            f"LENGTH = 0x{memory.length:x}\n"
        ) in script
    assert f". += {data.stack_bytes};" in script


def test_zephyr_is_told_of_an_fpu_where_there_is_one() -> None:
    assert b"CONFIG_FPU=y" in assemble("mps2_an386").files["prj.conf"]
    assert b"CONFIG_FPU=y" not in assemble("mps2_an385").files["prj.conf"]


def test_the_readme_says_how_to_run_the_firmware() -> None:
    readme = assemble("microbit").files["README.md"].decode()
    assert "qemu-system-arm -M microbit -nographic" in readme
    assert "| input | `x` | 24 |" in readme


def test_the_runtime_never_replaces_a_file_of_the_model() -> None:
    with pytest.raises(ProjectError, match="both generate"):
        assemble("native", {"src/main.c": "int main(void) { return 0; }\n"})


def test_a_name_that_a_template_was_not_given_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        environment("project").get_template("src/main.c.j2").render(prefix="tvmgen_default")


def test_trees_are_values() -> None:
    assert assemble("native") == FileTree(assemble("native").files)
