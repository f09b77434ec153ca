"""The code in docs/reference/module-blob.md runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen.base.formats import byte_stream
from microgen.relay import blob
from microgen.relay.blob import LIBRARY, Module, payloads
from microgen.relay.blob.payloads import Payload, Signature, base
from tests.relay.blob.samples import GRAPH

_DOC = Path(__file__).resolve().parents[3] / "docs" / "reference" / "module-blob.md"


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
