"""Models in C source, under other names, and in archives."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import pytest

import microgen
from microgen import frontends
from microgen.base import manifest
from microgen.base.errors import MicrogenError, ModelError
from microgen.frontends.tflite import c_arrays
from microgen.target import projects
from microgen.verifier.again import regenerated
from microgen.verifier.subject import Reproduction
from tests.support.places import SMALL

MODEL = SMALL.read_bytes()


def xxd(data: bytes, name: str = "g_model") -> str:
    lines = [data[at : at + 12] for at in range(0, len(data), 12)]
    rows = ",\n".join("  " + ", ".join(f"0x{byte:02x}" for byte in line) for line in lines)
    return f"unsigned char {name}[] = {{\n{rows}\n}};\nunsigned int {name}_len = {len(data)};\n"


def decimal(data: bytes, name: str = "g_model") -> str:
    return f"const uint8_t {name}[] = {{{','.join(map(str, data))},}};"


FORMS = {
    "xxd.cc": xxd(MODEL),
    "decimal.c": decimal(MODEL),
    "tflm.cc": f"""
// Copyright: "nobody's" {{ 1, 2 }} // */
#include "model.h"
#error it's not "closed
#ifdef __has_attribute
#define ALIGNED(x) __attribute__((aligned(x)))
#endif
extern "C" {{
alignas(16) {xxd(MODEL).replace("0x1c,", "/* the root { 0x1c, */ 0X1CU,", 1)} }}
const char other[] = {{'a', '}}', 0}}; int grid[2][2] = {{{{1, 2}}, {{3, 4}}}};
""",
    "attribute.h": f"const unsigned char\n g_model[] __attribute__((aligned(4)))\n"
    f" = {{{','.join(f'{byte:#o}'.replace('0o', '0') for byte in MODEL)}}};",
    "std_array.hpp": f"constexpr std::array<uint8_t, {len(MODEL)}> g_model = "
    f"{{{{{','.join(map(str, MODEL))}}}}};",
    "signed.cpp": f"int8_t g[9] = {{{','.join(str(b - 256 * (b > 127)) for b in MODEL)}}};",
    "crlf.h": xxd(MODEL).replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", FORMS)
def test_an_array_in_c_source_is_the_flatbuffer(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name].encode())
    assert frontends.files(path) == {".tflite": MODEL}


@pytest.mark.parametrize("name", ["m.lite", "m", "m.bin", "m.h", "m.relay", "m.zip", "M.TFLITE"])
def test_the_content_decides_whatever_the_name_is(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(MODEL)
    assert frontends.files(path) == {".tflite": MODEL}
    assert len(frontends.load(path).nodes) == len(frontends.load(SMALL).nodes)


def test_a_project_keeps_the_flatbuffer(tmp_path: Path) -> None:
    path, project = tmp_path / "model_data.cc", tmp_path / "p"
    path.write_text(FORMS["xxd.cc"])
    made = microgen.generate(path, "mps2_an386", project)
    assert (project / "model" / "src" / "default.tflite").read_bytes() == MODEL
    assert made.manifest.model.file == "model_data.cc"
    assert not (project / "model" / "src" / "default.cc").exists()
    again = microgen.generate(path, "mps2_an386", tmp_path / "q")
    assert made.files.digests() == again.files.digests()


@pytest.mark.parametrize("name", ["model_data.cc", "model.relay", "no_suffix"])
def test_a_project_is_generated_again_from_what_it_keeps(name: str, tmp_path: Path) -> None:
    path, project = tmp_path / name, tmp_path / "p"
    path.write_bytes(FORMS["xxd.cc"].encode() if name.endswith(".cc") else MODEL)
    made = microgen.generate(path, "mps2_an386", project)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    record = manifest.load(project)
    unread = SimpleNamespace(
        project=project, manifest=record, board=projects.of_project(record.board)
    )
    again = regenerated.regenerated(unread, Reproduction(), scratch)  # type: ignore[arg-type]
    assert again.digests() == made.files.digests()


def refusal(source: str | bytes, tmp_path: Path, name: str = "m.cc") -> str:
    path = tmp_path / name
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    with pytest.raises(ModelError) as caught:
        frontends.load(path)
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(f"{name}: ")
    return said.removeprefix(f"{name}: ")


BEGIN = "28,0,0,0,0x54,0x46,0x4c,0x33"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            xxd(MODEL, "a") + decimal(MODEL, "b"),
            "has 2 arrays that are TFLite models: a, b; copy one of them to a file of its own",
        ),
        (
            f"char m[] = {{{BEGIN},256}};",
            "m[8] is '256', which is not a byte; get the file again, or give the .tflite file "
            "itself",
        ),
        (f"char m[] = {{{BEGIN},1 2}};", "m[8] is '1 2', which is not a number; get the file "),
        (f"char m[] = {{{BEGIN},,1}};", "m[8] is '', which is not a number; get the file again"),
        (f"char m[] = {{{BEGIN},08}};", "m[8] is '08', which is not a number; get the file again"),
        (f"char m[] = {{{BEGIN},-129}};", "m[8] is '-129', which is not a byte; get the file"),
        (f"char m[] = {{{BEGIN},{'9' * 9999}}};", f"m[8] is '{'9' * 21}...', which is not a num"),
        (f"char m[] = {{{BEGIN},\x1b[31m}};", r"m[8] is '\x1b[31m', which is not a number; get"),
        (f"char m[] = {{{BEGIN},1", "has an array that does not end; get the file again"),
        (f"int a;\n/* {BEGIN}", "has a comment in line 2 that does not end; get the file again"),
        (f"char m[] = {{{BEGIN}}};", "is truncated or corrupt: "),
        (
            "#pragma once\nextern const unsigned char g_model[];\nextern const int g_model_len;",
            "has no array that is a TFLite flatbuffer; it only declares g_model: give the source "
            "file that has its bytes",
        ),
        ("int x;", "has no array that is a TFLite flatbuffer; give the .tflite file itself"),
        ("", "has no array that is a TFLite flatbuffer; give the .tflite file itself"),
        (bytes(range(256)) * 99, "has no array that is a TFLite flatbuffer; give the .tflite"),
    ],
)
def test_other_source_is_refused_in_one_line(
    source: str | bytes, said: str, tmp_path: Path
) -> None:
    assert refusal(source, tmp_path).startswith(said)


def test_a_large_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_arrays, "MAX_BYTES", 8)
    assert refusal("         ", tmp_path) == (
        "has 9 bytes; C source of a model has at most 8; give the .tflite file itself"
    )


HOSTILE = {
    "comments that begin": "/*",
    "comments": "/**/",
    "quotation marks": '"',
    "escapes": '\\"',
    "braces": "{",
    "pairs of braces": "{}",
    "empty lists": "{,}",
    "words": "a ",
    "declarations": "extern a[];",
    "continued comments": "//\\\n",
    "numbers": f"a[]={{{BEGIN}}};",
    "hashes": "\n#",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_time_and_memory_are_linear(kind: str) -> None:
    def seconds(length: int) -> float:
        text = (HOSTILE[kind] * length)[:length].encode()
        start = time.process_time()
        with pytest.raises(ModelError):
            c_arrays.flatbuffer(text, "m.c")
        return time.process_time() - start

    seconds(10_000)
    assert seconds(400_000) < 20 * max(seconds(50_000), 0.005)


def test_memory_is_bounded() -> None:
    text = b"char m[] = {" + BEGIN.encode() + b",10" * (1 << 20) + b"};"
    tracemalloc.start()
    data = c_arrays.flatbuffer(text, "m.c")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(data) == 8 + (1 << 20)
    assert peak < 16 * len(text)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("m.zip", "unzip"),
        ("m.tflite.zip", "unzip"),
        ("m.tar.gz", "tar -xzf"),
        ("M.TGZ", "tar -xzf"),
        ("m.tar", "tar -xf"),
        ("m.tflite.gz", "gunzip -k"),
    ],
)
def test_an_archive_is_refused_with_the_command(name: str, command: str, tmp_path: Path) -> None:
    path = tmp_path / f"it's {name}"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(MicrogenError) as caught:
        frontends.load(path)
    quoted = f"'{tmp_path}/it'\"'\"'s {name}'"
    assert str(caught.value) == (
        f"{path}: is an archive; type `{command} {quoted}` and give the model in it"
    )
