"""Module blobs, written independently of microgen's writer, and the driver that loads them."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from microgen.base import resources
from microgen.project.firmware import crt_files
from tests.crt import programs
from tests.kernels.conformance.conformance import UNOPTIMIZED

CRT = resources.folder("crt")
HERE = Path(__file__).parent
INCLUDES = (f"-I{CRT / 'include'}", f"-I{CRT / 'src'}")
FILES = sorted(crt_files.closure([b'#include "modules/module_blob.h"\n']))
SOURCES = tuple(CRT / name for name in FILES if name.endswith(".c"))

MALFORMED, UNSUPPORTED, NOT_SET = 0x780, 0x781, 0x783
NOT_FOUND, BAD_INDEX, NO_MEMORY, NO_CONSTANT = 0x100, 0x101, 0x503, 0x702
WRONG_NUMBER, NOT_CALLABLE, INVALID = 0x800, 0x802, 0x803

# The encoder

Group = tuple[str | bytes, bytes]
LIB: Group = ("_lib", b"")


def u64(*values: int) -> bytes:
    return b"".join((value % 2**64).to_bytes(8, "little") for value in values)


def string(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return u64(len(data)) + data


def strings(texts: Sequence[str | bytes]) -> bytes:
    return u64(len(texts)) + b"".join(map(string, texts))


def numbers(values: Sequence[int]) -> bytes:
    return u64(len(values), *values)


def tree(imports: Sequence[Sequence[int]]) -> Group:
    """The import tree. ``imports`` are the modules that each module imports."""
    rows = [sum(map(len, imports[:i])) for i in range(len(imports) + 1)]
    children = [child for row in imports for child in row]
    return "_import_tree", numbers(rows) + numbers(children)


def framed(rest: bytes) -> bytes:
    return u64(len(rest)) + rest


def blob(groups: Sequence[Group], imports: Sequence[Sequence[int]] | None = None) -> bytes:
    """A blob of these groups. Without ``imports`` it has the form without a tree."""
    groups = [*groups, *([] if imports is None else [tree(imports)])]
    return framed(u64(len(groups)) + b"".join(string(key) + payload for key, payload in groups))


def toy(symbol: str | bytes, text: str = "", consts: Sequence[str] = (), key: str = "toy") -> Group:
    return key, string(symbol) + string(text) + strings(consts)


def pair(*symbols: str) -> Group:
    return "pair", strings(symbols)


@dataclass(frozen=True)
class Array:
    """An NDArray in the blob. Fields that are None follow from the shape."""

    shape: Sequence[int] = (2, 3)
    code: int = 2
    bits: int = 32
    lanes: int = 1
    device: int = 1
    magic: int = 0xDD5E40F096B4A13F
    ndim: int | None = None
    nbytes: int | None = None
    data: bytes | None = None

    def packed(self) -> bytes:
        size = -(-self.bits // 8)
        for dim in self.shape:
            size *= dim
        data = bytes(size) if self.data is None else self.data
        ndim = len(self.shape) if self.ndim is None else self.ndim
        head = struct.pack("<iiI", self.device, 0, ndim)
        head += struct.pack("<BBH", self.code, self.bits, self.lanes)
        nbytes = size if self.nbytes is None else self.nbytes
        return u64(self.magic, 0) + head + u64(*self.shape, nbytes) + data


def const_loader(
    symbols: Mapping[str, Sequence[str]],
    arrays: Mapping[str, Array] | None = None,
    key: str = "const_loader",
) -> Group:
    arrays = arrays or {}
    payload = strings(list(arrays)) + u64(len(arrays))
    payload += b"".join(array.packed() for array in arrays.values())
    payload += strings(list(symbols)) + u64(len(symbols))
    return key, payload + b"".join(map(strings, symbols.values()))


# TVM's blob in which the library imports one dnnl_json module with symbol "f" and JSON "{}".
VECTOR = bytes.fromhex(
    "8400000000000000 0300000000000000 0400000000000000 5f6c6962 0900000000000000"
    "646e6e6c5f6a736f6e 0100000000000000 66 0200000000000000 7b7d 0000000000000000"
    "0c00000000000000 5f696d706f72745f74726565 0300000000000000 0000000000000000"
    "0100000000000000 0100000000000000 0100000000000000 0100000000000000"
)


def usual() -> bytes:
    """A blob as export_library writes it: a const loader imports the library and two modules."""
    loader = const_loader({"f": ["c0", "c2"], "g": []})
    modules = [loader, toy("g", "1234"), toy("f", "{}", ["c0", "c2"], "dnnl_json"), LIB]
    return blob(modules, [[1, 2, 3], [], [], []])


def older() -> bytes:
    """A blob with arrays and with the const loader's older name."""
    loader = const_loader(
        {"f": ["c1"]}, {"c1": Array(), "x": Array((0,), 0, 8), "y": Array(())}, "metadata"
    )
    return blob([loader, LIB, toy("f", "text", ["c1"])], [[1], [2], []])


def deep() -> bytes:
    modules = [LIB, pair("g", "h"), toy("f", "a"), pair("symbol_1", "f", "_"), const_loader({})]
    return blob(modules, [[1, 2, 4], [3], [3], [4], []])


def without_tree() -> bytes:
    return blob([toy("f"), pair("f", "g"), const_loader({"f": []})])


# The driver


@dataclass(frozen=True)
class Lookup:
    module: int
    name: str | bytes
    query_imports: bool = True

    def packed(self) -> bytes:
        return struct.pack("<II", self.module, self.query_imports) + block(self.name)


@dataclass(frozen=True)
class Case:
    blob: bytes
    lookups: Sequence[Lookup] = ()
    symbols: Sequence[str | bytes] = ()
    pool: int = 1 << 14

    def packed(self) -> bytes:
        return b"".join(
            (
                struct.pack("<I", self.pool) + block(self.blob),
                struct.pack("<I", len(self.lookups)),
                *(lookup.packed() for lookup in self.lookups),
                struct.pack("<I", len(self.symbols)) + b"".join(map(block, self.symbols)),
            )
        )


@dataclass(frozen=True)
class Result:
    """``found`` are (code, module, function, is_init). ``ran`` are the codes of init and of the
    call, and the result for the input 5."""

    load: int
    used: int
    found: tuple[tuple[int, ...], ...]
    ran: tuple[tuple[int, ...], ...]


def block(data: str | bytes) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return struct.pack("<I", len(data)) + data


def compiled(folder: Path, program: str, compiler: str = "") -> Path:
    """A test program with the loader, under sanitizers."""
    sources = [HERE / f"{program}.c", HERE / "module_blob_toy.c", *SOURCES]
    return programs.linked(folder / program, sources, UNOPTIMIZED, compiler)


def run(driver: Path, cases: Iterable[Case]) -> list[Result]:
    """The driver's result for each case. The driver stops early only on an error."""
    cases = list(cases)
    stdin = b"".join(case.packed() for case in cases)
    done = subprocess.run([driver], input=stdin, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    lines = done.stdout.decode().splitlines()
    results = [_result(line, case) for line, case in zip(lines, cases, strict=True)]
    assert all(result.used <= case.pool for result, case in zip(results, cases, strict=True))
    return results


def _result(line: str, case: Case) -> Result:
    load, used, *rest = line.split(" ")
    found = tuple(tuple(map(int, word.split(","))) for word in rest)
    count = len(case.lookups)
    return Result(int(load), int(used), found[:count], found[count:])
