"""Reads the module blob in the ELF, and checks it and its loaders in the firmware."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from microgen.base.errors import MicrogenError
from microgen.base.manifest import BlobRecord, ExternalRecord, ModuleRecord
from microgen.relay import blob
from microgen.relay.blob import LIBRARY, Blob
from microgen.relay.blob.payloads import ConstLoader, PayloadReader
from microgen.relay.blob.payloads.opaque import ExpectedPayload, reader
from microgen.verifier.checks.constants import object_problems
from microgen.verifier.checks.objects import bytes_of, is_writable, section_of, text_at, words
from microgen.verifier.subject import Finding, Subject, judged, not_applicable


@dataclass(frozen=True, slots=True)
class BlobImage:
    """The blob's bytes and contents. ``None`` and a ``problem`` if it cannot be read."""

    data: bytes
    blob: Blob | None
    problem: str = ""


def blob_image(subject: Subject, module: ModuleRecord) -> BlobImage:
    """The blob in the ELF, of a model that has one."""
    assert module.blob is not None
    name = module.blob.symbol
    symbols = subject.elf.named(name, "object")
    data = subject.elf.read(symbols[0].address, symbols[0].size) if len(symbols) == 1 else None
    if not data:
        return BlobImage(b"", None, f"{name} is not one object with bytes")
    try:
        return BlobImage(data, blob.loads(data, known(module.loaded, subject.readers())))
    except MicrogenError as error:
        return BlobImage(data, None, f"{name}: {error}")


def known(
    loaded: Iterable[ExternalRecord], readers: Mapping[str, PayloadReader]
) -> Mapping[str, PayloadReader]:
    """The type keys that a blob of these modules may have. A payload that none of the ``readers``
    can read is recognised by its digest."""
    expected: dict[str, list[ExpectedPayload]] = {}
    for own in loaded:
        symbols = tuple(function.symbol for function in own.functions)
        expected.setdefault(own.type_key, []).append(
            ExpectedPayload(own.nbytes, own.sha256, symbols)
        )
    return {**{key: reader(names) for key, names in expected.items()}, **readers}


_NOT_LOADED = (LIBRARY, "const_loader", "metadata")  # modules that the loader itself makes
_LOADER = "runtime.module.loadbinary_"
_KINDS = ("load", "find", "init", "run")


def module_blob(subject: Subject) -> Finding:
    """For a model with modules that are loaded: the blob is one object of its size in
    ``.rodata.tvm``, in no writable section, segment or memory; it decodes to a sound tree,
    whose root is a const loader without arrays that imports the library and the planned modules
    and lists their symbols and constants; its bytes, and those of each payload, have the
    manifest's SHA-256.

    Reads: symbols, the blob in the ELF; manifest.
    """
    module = subject.manifest
    if module.blob is None:
        return not_applicable("the model has no modules that are loaded")
    record = module.blob
    problems = [*object_problems(subject, record), *_content_problems(subject, record)]
    expected = (
        f"{record.symbol}: an object of {record.nbytes} bytes in {section_of(subject, record)}, "
        f"read-only; {len(module.loaded)} modules in a valid tree, byte for byte as generated"
    )
    modules = ", ".join(f"{m.type_key} of {m.nbytes} bytes" for m in module.loaded)
    return judged(expected, problems, f"{record.nbytes} bytes: {modules}", nbytes=record.nbytes)


def _content_problems(subject: Subject, record: BlobRecord) -> Iterator[str]:
    image = blob_image(subject, subject.manifest)
    if image.blob is None:
        yield image.problem
        return
    yield from _tree_problems(image.blob, subject.manifest)
    yield from _payload_problems(image.blob, subject.manifest)
    digest = hashlib.sha256(image.data).hexdigest()
    if digest != record.sha256:
        yield f"{record.symbol} has the SHA-256 {digest}, planned {record.sha256}"


def _tree_problems(blob: Blob, module: ModuleRecord) -> Iterator[str]:
    """Problems of the root: it must be a const loader without arrays, with the planned imports."""
    # The root and its imports are all the modules there are: further imports would be loaded, too.
    keys = sorted(blob.modules[child].type_key for child in blob.children[0])
    planned = sorted([LIBRARY, *(own.type_key for own in module.loaded)])
    if keys != planned or len(blob.modules) != len(planned) + 1:
        yield f"the root imports {', '.join(keys)}, planned {', '.join(planned)}"
    content = blob.contents[0]
    if blob.root.type_key != "const_loader" or not isinstance(content, ConstLoader):
        yield f"the root is {blob.root.type_key}, planned const_loader"
    elif content.arrays or dict(content.variables) != _variables(module):
        yield "the const loader's symbols and constants are not the planned ones"


def _variables(module: ModuleRecord) -> dict[str, tuple[str, ...]]:
    functions = [function for own in module.loaded for function in own.functions]
    return {f.symbol: tuple(constant.name for constant in f.constants) for f in functions}


def _payload_problems(blob: Blob, module: ModuleRecord) -> Iterator[str]:
    # Several modules may have equal payloads, so they are counted.
    digests = Counter(hashlib.sha256(m.payload or b"").hexdigest() for m in blob.modules)
    planned = Counter(own.sha256 for own in module.loaded)
    for own in module.loaded:
        if digests[own.sha256] != planned[own.sha256]:
            symbols = ", ".join(function.symbol for function in own.functions)
            yield f"the payload of {symbols} is not the planned one of {own.type_key}"


def module_loaders(subject: Subject) -> Finding:
    """Each type key of the blobs is in ``mg_loader_names`` once, and at the same index
    ``mg_loader_loads``, ``-finds``, ``-inits`` and ``-runs`` have the functions of the planned
    runtime; nothing writes the tables.

    Reads: symbols, the tables ``mg_loader_*``; the blobs in the ELF; manifest.
    """
    loaded = {own.type_key: own for m in subject.manifest.modules for own in m.loaded}
    if not loaded:
        return not_applicable("no model has modules that are loaded")
    problems = list(_table_problems(subject, loaded))
    for module in subject.manifest.modules:
        problems += _unknown_keys(subject, module, loaded)
    expected = f"one loader for each of {', '.join(loaded)}, in constant tables"
    count = len(loaded)
    return judged(expected, problems, f"{count} loaders, {', '.join(loaded)}", loaders=count)


def _unknown_keys(
    subject: Subject, module: ModuleRecord, loaded: dict[str, ExternalRecord]
) -> Iterator[str]:
    blob = blob_image(subject, module).blob if module.blob else None
    keys = {m.type_key for m in blob.modules} if blob else set()
    for key in sorted(keys - loaded.keys() - {*_NOT_LOADED}):
        yield f"the blob of {module.module} has {key}, for which no loader was planned"


def _table_problems(subject: Subject, loaded: dict[str, ExternalRecord]) -> Iterator[str]:
    tables = {kind: f"mg_loader_{kind}s" for kind in ("name", *_KINDS)}
    # Without the object the count is 0, which is reported below: some loader is planned.
    count = int.from_bytes(bytes_of(subject, "mg_loader_count") or b"", "little")
    pointers = {kind: words(subject, symbol, count) for kind, symbol in tables.items()}
    for kind, symbol in tables.items():
        if len(pointers[kind]) != count or not count:
            yield f"{symbol} is not one table of {count} entries"
            return
        if any(is_writable(subject, s) for s in subject.elf.named(symbol)):
            yield f"{symbol} is in writable memory"
    names = [text_at(subject, address) for address in pointers["name"]]
    for name in sorted(set(names) - {_LOADER + key for key in loaded}):
        yield f"{name} is a loader, but no module needs it"
    for key, own in loaded.items():
        if names.count(_LOADER + key) != 1:
            yield f"{names.count(_LOADER + key)} loaders for {key}"
            continue
        place = names.index(_LOADER + key)
        for kind in _KINDS:
            functions = subject.elf.named(f"{own.prefix}_{kind}", "func")
            if [s.address for s in functions] != [pointers[kind][place]]:
                yield f"entry {place} of {tables[kind]} is not {own.prefix}_{kind}"
