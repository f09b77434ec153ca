"""Tar archives in memory: a deterministic writer, and a reader for untrusted archives.

The reader is our own, because an archive from outside must neither reach the disk nor block the
process. It knows files and folders (ustar, GNU long names, pax paths and sizes, as Python's
``tarfile`` and GNU tar write them) and refuses everything else.
"""

from __future__ import annotations

import io
import string
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from microgen.base.errors import ModelError

MAX_BYTES = 256 << 20  # of an archive; archives for microcontrollers have at most a few megabytes
MAX_MEMBERS = 20_000

_BLOCK = 512
_GZIP = b"\x1f\x8b"
_FILE, _FOLDER, _LONG_NAME, _PAX, _PAX_GLOBAL = b"0", b"5", b"L", b"x", b"g"
_REFUSED = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"S": "a sparse file",
}


def write(files: Mapping[str, bytes]) -> bytes:
    """An archive with TVM's member names (``.``, ``./metadata.json``, ...) and owner, sorted.

    Times are 0, so that equal files give an equal archive.
    """
    paths = [PurePosixPath(name) for name in files]
    folders = {parent for path in paths for parent in path.parents}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted({*paths, *folders}, key=lambda p: p.parts):
            data = None if path in folders else files[str(path)]
            archive.addfile(_member(path, data), io.BytesIO(data or b""))
    return buffer.getvalue()


def _member(path: PurePosixPath, data: bytes | None) -> tarfile.TarInfo:
    """The header of a file, or of a folder if there is no data."""
    member = tarfile.TarInfo("/".join((".", *path.parts)))
    # As in TVM's archives, for every user who exports. Equal projects then give equal archives.
    member.uname = member.gname = "root"
    if data is None:
        member.type, member.mode = tarfile.DIRTYPE, 0o755
    else:
        member.size = len(data)
    return member


def is_tar(head: bytes) -> bool:
    """Whether a file that begins with ``head`` (at least 262 bytes) is a tar archive or gzip."""
    return head[257:262] == b"ustar" or head.startswith(_GZIP)


def read(data: bytes) -> dict[str, bytes]:
    """Path -> content of an archive's files; the archive may be compressed with gzip.

    Raises ModelError if it is not a valid archive of files and folders with relative names.
    """
    files: dict[str, bytes] = {}
    for count, (name, content) in enumerate(_members(_plain(data))):
        if count >= MAX_MEMBERS:
            raise ModelError(f"has more than {MAX_MEMBERS:,} members")
        path = relative(name)
        if content is None:
            continue
        if path in files:
            raise ModelError(f"has two members named {path!r}")
        files[path] = content
    return files


def relative(name: str) -> str:
    """A member's name without ``./``. Raises ModelError unless the path is below the root."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or not name.isprintable():
        raise ModelError(f"has a member named {name!r}, which is not a path inside an archive")
    return str(path)


def _plain(data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    # 31: the largest window (15), with gzip's header (16).
    unpacker = zlib.decompressobj(wbits=31)
    try:
        # With a limit, because a few kilobytes of gzip can unpack to gigabytes.
        plain = unpacker.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise ModelError("is not valid gzip data") from error
    if len(plain) > MAX_BYTES:
        raise ModelError(f"holds more than {MAX_BYTES:,} bytes")
    if not unpacker.eof:
        raise ModelError("ends inside its gzip data")
    return plain


@dataclass(slots=True)
class _Extended:
    """The name and size that header members give to the member after them."""

    name: str | None = None
    size: int | None = None


def _members(data: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Name and content of each member; folders have no content."""
    at, extended = 0, _Extended()
    while True:
        header = data[at : at + _BLOCK]
        if len(header) < _BLOCK:
            raise ModelError("is cut off: it has no end mark" if at else "is not a tar archive")
        # A block of zeros ends an archive; a second one may follow.
        if not any(header):
            return
        kind = _kind(header)
        is_header = kind in (_LONG_NAME, _PAX, _PAX_GLOBAL)
        # A pax size replaces the next member's own, which has too few digits for it.
        size = _size(header) if is_header or extended.size is None else extended.size
        content = data[at + _BLOCK : at + _BLOCK + size]
        if len(content) < size:
            raise ModelError(f"is cut off: a member of {size:,} bytes has {len(content):,}")
        # Contents are padded to whole blocks.
        at += _BLOCK + -(-size // _BLOCK) * _BLOCK
        if is_header:
            _extend(extended, kind, content)
            continue
        name = _name(header) if extended.name is None else extended.name
        yield name, None if kind == _FOLDER else content
        extended = _Extended()


def _kind(header: bytes) -> bytes:
    """The member's type flag. Raises ModelError if the header's checksum is wrong."""
    # The sum counts the 8 bytes of its own field as spaces.
    total = sum(header[:148]) + 8 * ord(" ") + sum(header[156:])
    if _octal(header[148:156]) != total:
        raise ModelError("is not a tar archive: a header has a wrong checksum")
    # Archives from before ustar have a zero byte for a file.
    kind = header[156:157].replace(b"\0", _FILE)
    if kind in (_FILE, _FOLDER, _LONG_NAME, _PAX, _PAX_GLOBAL):
        return kind
    what = _REFUSED.get(kind, f"a member of type {kind!r}")
    raise ModelError(f"holds {what}, {_name(header)!r}; a library has files and folders only")


def _extend(extended: _Extended, kind: bytes, content: bytes) -> None:
    if kind == _LONG_NAME:
        extended.name = _text(content)
    elif kind == _PAX:
        records = _records(content)
        # Its content would have to be spread over the file.
        if any(key.startswith("GNU.sparse") for key in records):
            raise ModelError("holds a sparse file; a library has files and folders only")
        extended.name = records.get("path", extended.name)
        if "size" in records:
            extended.size = _number(records["size"], 10)


def _records(content: bytes) -> dict[str, str]:
    """The ``<length> <key>=<value>\\n`` records of a pax header."""
    records: dict[str, str] = {}
    while content:
        length, _, _ = content.partition(b" ")
        nbytes = _number(_text(length), 10)
        record = content[len(length) + 1 : nbytes]
        key, equals, value = record.partition(b"=")
        if not equals or len(content) < nbytes or not value.endswith(b"\n"):
            raise ModelError("has a pax header that is damaged")
        records[_text(key)] = _text(value[:-1])
        content = content[nbytes:]
    return records


def _size(header: bytes) -> int:
    digits = header[124:136]
    if digits[0] & 0x80:  # base 256, which GNU tar uses from 8 GiB on
        raise ModelError(f"has a member of more than {MAX_BYTES:,} bytes")
    return _octal(digits)


def _octal(digits: bytes) -> int:
    return _number(digits.strip(b" \0").decode("ascii", "replace") or "0", 8)


def _number(text: str, base: int) -> int:
    # Not int() alone, which also reads signs, underscores and the digits of other scripts.
    if not (0 < len(text) <= 20 and set(text) <= set(string.digits[:base])):
        raise ModelError(f"has a header with {text!r} in place of a number")
    return int(text, base)


def _name(header: bytes) -> str:
    """The name in a header, with the prefix if the header is ustar's."""
    # GNU's header has other fields in these bytes.
    prefix = header[345:500] if header[257:263] == b"ustar\0" else b""
    return "/".join(filter(None, (_text(prefix), _text(header[:100]))))


def _text(field_of_header: bytes) -> str:
    try:
        return field_of_header.split(b"\0", 1)[0].decode()
    except UnicodeDecodeError as error:
        raise ModelError("has a name that is not UTF-8") from error
