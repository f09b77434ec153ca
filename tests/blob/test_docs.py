"""The code in docs/module-blob.md runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen import blob
from microgen.blob import LIBRARY, Module, payloads
from microgen.blob.payloads import Payload, Signature, base
from microgen.formats import byte_stream
from tests.blob.samples import GRAPH

_DOC = Path(__file__).resolve().parents[2] / "docs" / "module-blob.md"


def test_the_examples_run() -> None:
    write, extend = re.findall(r"```python\n(.*?)```", _DOC.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"text": GRAPH}
    exec(write, names)
    assert [m.type_key for m in names["found"].modules] == ["const_loader", "dnnl_json", LIBRARY]
    given = (dataclass, Payload, Signature, base, byte_stream, payloads)
    names = {value.__name__.rpartition(".")[2]: value for value in given}
    exec(extend, names)
    commands = names["Commands"]("f", (1, 2, 3))
    data = blob.dumps(Module(LIBRARY, None, (Module("npu", commands.dumps()),)))
    assert blob.loads(data, names["known"]).contents == (None, commands)
