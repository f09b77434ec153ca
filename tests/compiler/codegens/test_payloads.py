"""A codegen from outside says how to read its modules' payloads, for ``inspect`` and ``verify``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microgen
from microgen import relay
from microgen.base.errors import CodegenError, MicrogenError
from microgen.base.formats import byte_stream
from microgen.compiler.codegens.payloads import readers
from microgen.interface import inspection
from microgen.relay.blob import LIBRARY, Module, dumps, loads
from microgen.verifier import verify
from tests.support.external_networks import TOY
from tests.support.tools import NEEDS_NINJA

TOY_PAYLOAD = """
from dataclasses import dataclass

from microgen.relay.blob.payloads import Payload, Signature
from microgen.relay.blob.payloads.base import name, typed

from .toy import Toy


@dataclass(frozen=True)
class ToyPayload(Payload):
    symbol: str
    limit: int

    @classmethod
    def loads(cls, stream):
        return cls(name(stream), stream.number())

    def dumps(self):
        raise NotImplementedError

    @property
    def symbols(self):
        return (self.symbol,)

    @property
    def facts(self):
        return {"limit": self.limit}

    def signature(self, symbol):
        kind = typed((self.limit,), "float32")
        return Signature(symbol, (kind,), (), (kind,))


class Described(Toy):
    payloads = {"toy": ToyPayload.loads}


CODEGEN = Described()
"""
SYMBOL = "tvmgen_default_toy_main_0"
UNKNOWN = "the payload is not one of the 1 known ones"


def folder_with(tmp: Path, payload: str) -> Path:
    """A folder with the toy codegen, and with a module that describes its payload."""
    toy = (Path(TOY) / "toy.py").read_text()
    (tmp / "toy.py").write_text(toy.replace("CODEGEN = Toy()\n", ""))
    (tmp / "described.py").write_text(payload)
    return tmp


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("codegens"), TOY_PAYLOAD)


@pytest.fixture(scope="module")
def project(folder: Path) -> Path:
    """A built project, in which the toy's runtime computes a relu of eight elements."""
    made = folder / "project"
    options = {"codegen": ("toy",), "codegen_path": str(folder)}
    microgen.generate(relu(), "native", made, **options)
    microgen.build(made)
    return made


def relu() -> relay.IRModule:
    x = relay.var("x", shape=(8,))
    return relay.IRModule.from_expr(relay.Function([x], relay.nn.relu(x)))


def blob_of(payload: bytes) -> bytes:
    return dumps(Module(LIBRARY, None, (Module("toy", payload),)))


@NEEDS_NINJA
@pytest.mark.parametrize("part", [".", "build/firmware.elf"])
def test_inspect_describes_its_module(project: Path, folder: Path, part: str) -> None:
    found = inspection.inspect(project / part, codegen_path=[folder])
    (toy,) = [m for m in found.data["blobs"][0]["modules"] if m["key"] == "toy"]
    assert (toy["symbols"], toy["facts"]) == ([SYMBOL], {"limit": 8})
    assert any("limit: 8" in str(line) for line in found.text)
    without = inspection.inspect(project / part).data["blobs"][0]["modules"]
    assert [m["facts"] for m in without if m["key"] == "toy"] == [{}]


@NEEDS_NINJA
def test_verify_holds_its_signature_against_the_plan(
    project: Path, folder: Path, tmp_path: Path
) -> None:
    assert verify(project, codegen_path=[folder]).ok
    data = (project / "build" / "firmware.elf").read_bytes()
    sound = byte_stream.string(SYMBOL) + byte_stream.number(8)
    assert data.count(sound) == 1
    elf = tmp_path / "firmware.elf"
    elf.write_bytes(data.replace(sound, byte_stream.string(SYMBOL) + byte_stream.number(9)))
    found = verify(project, elf=elf, codegen_path=[folder]).check("external_functions").found
    assert f"inputs of {SYMBOL} are float32[9], planned float32[8]" in found
    assert UNKNOWN in verify(project, elf=elf).check("external_functions").found


def test_a_blob_of_its_own_is_read_too(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(blob_of(byte_stream.string("f") + byte_stream.number(3)))
    (_, toy) = inspection.inspect(path, codegen_path=[folder]).data["modules"]
    assert toy["facts"] == {"limit": 3}
    with pytest.raises(MicrogenError, match="found the type key 'toy'"):
        inspection.inspect(path)


@pytest.mark.parametrize(
    ("old", "new", "doing"),
    [
        ("return cls(name(stream), stream.number())", "return 1 / 0", "reading the payload"),
        ('return {"limit": self.limit}', "return 1 / 0", "describing the payload"),
    ],
)
def test_what_its_reader_does_wrong_is_its_error(
    tmp_path: Path, old: str, new: str, doing: str
) -> None:
    assert TOY_PAYLOAD.count(old) == 1
    folder = folder_with(tmp_path, TOY_PAYLOAD.replace(old, new))
    path = tmp_path / "x.bin"
    path.write_bytes(blob_of(byte_stream.string("f") + byte_stream.number(3)))
    with pytest.raises(CodegenError, match=rf"module 1 \(toy\): {doing} ended with ZeroDivision"):
        inspection.inspect(path, codegen_path=[folder])


def test_a_payload_with_bytes_after_it_is_refused(folder: Path) -> None:
    data = blob_of(byte_stream.string("f") + byte_stream.number(3) + b"more")
    with pytest.raises(MicrogenError):
        loads(data, readers(folders=[folder]))


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (
            "cls(name(stream), 8)",
            "cannot read a payload that it made: 8 bytes follow",
        ),
        ("cls(name(stream), 1 / 0)", "reading a payload that it made ended with ZeroDivisionError"),
        (
            "cls(name(stream)[:3], stream.number())",
            f"made a payload of {SYMBOL}, and reads functions tvm;",
        ),
    ],
    ids=["rest", "fails", "functions"],
)
def test_a_codegen_must_read_what_it_makes(new: str, words: str, tmp_path: Path) -> None:
    old = "cls(name(stream), stream.number())"
    folder = folder_with(tmp_path, TOY_PAYLOAD.replace(old, new))
    options = {"codegen": ("toy",), "codegen_path": str(folder)}
    with pytest.raises(CodegenError, match=re.escape(words)) as caught:
        microgen.compile_model(relu(), "native", **options)
    assert str(caught.value).startswith("toy: ")


def test_two_readers_of_one_type_key_are_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, TOY_PAYLOAD.replace('{"toy":', '{"dnnl_json":'))
    with pytest.raises(MicrogenError, match="dnnl and toy both read payloads of type 'dnnl_json'"):
        readers(folders=[folder])
