"""Archives in the form that TVM writes, built by hand: layouts of v0.8 (version 5) and v0.14
(version 7)."""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

import numpy as np

from microgen.graph import params_file

C = "c -keys=arm_cpu,cpu -mcpu=cortex-m55"
CMSIS = "cmsis-nn -keys=cmsis-nn -mcpu=cortex-m55"
PARAMS = params_file.dumps(
    {"p0": np.ones((8, 3, 3, 1), np.int8), "p1": np.array([2.0, 4.0], np.float32)}
)


def _memory(*, with_ports: bool) -> dict[str, Any]:
    main = {
        "constants_size_bytes": 80,
        "device": 1,
        "io_size_bytes": 18,
        "workspace_size_bytes": 1024,
    }
    if with_ports:
        main["inputs"] = {"a": {"dtype": "uint8", "size": 2}}
        main["outputs"] = {"output": {"dtype": "float32", "size": 16}}
    function = {
        "function_name": "tvmgen_default_fused_cast_multiply_add",
        "workspace": [{"device": 1, "workspace_size_bytes": 64}],
    }
    return {"functions": {"main": [main], "operator_functions": [function]}}


def version5(*, executor: str = "graph") -> dict[str, bytes]:
    """The library of v0.8: one module at the top level, targets by device type."""
    memory = _memory(with_ports=False)
    if executor == "graph":
        memory["sids"] = [
            {"storage_id": 0, "size_bytes": 2, "input_binding": "a"},
            {"storage_id": 1, "size_bytes": 8, "input_binding": "p1"},
            {"storage_id": 2, "size_bytes": 8},
        ]
    record = {
        "version": 5,
        "model_name": "add",
        "export_datetime": "2021-11-20 10:09:08Z",
        "memory": memory,
        "target": {"1": C},
        "executors": [executor],
        "style": "full-model",
    }
    files = {
        "metadata.json": _json(record),
        "codegen/host/src/add_lib0.c": b"// tvm target: c\n",
        "codegen/host/src/add_lib1.c": b"// tvm target: c\n",
        "parameters/add.params": PARAMS,
        "src/relay.txt": b'#[version = "0.0.5"]\n',
    }
    return files | ({"executor-config/graph/graph.json": b"{}"} if executor == "graph" else {})


def version6() -> dict[str, bytes]:
    """The library of version 6, which differs from version 5 in the list of targets."""
    files = version5(executor="aot")
    record = json.loads(files["metadata.json"]) | {"version": 6, "target": [C]}
    return files | {"metadata.json": _json(record)}


def version7(*names: str) -> dict[str, bytes]:
    """The library of v0.14: modules by name, and AOT with the standalone runtime."""
    modules = {
        name: {
            "model_name": name,
            "export_datetime": "2023-10-20 10:09:08Z",
            "memory": _memory(with_ports=True),
            "target": [C, CMSIS],
            "executors": ["aot"],
            "style": "full-model",
            "external_dependencies": [
                {
                    "short_name": "tvm_standalone_crt",
                    "url": "./runtime",
                    "url_type": "mlf_path",
                    "version_spec": "0.14.0",
                }
            ],
        }
        for name in names
    }
    files = {"metadata.json": _json({"version": 7, "modules": modules})}
    for name in names:
        files |= {
            f"codegen/host/include/tvmgen_{name}.h": b"#include <stdint.h>\n",
            f"codegen/host/src/{name}_lib0.c": b"// tvm target: c\n",
            f"parameters/{name}.params": PARAMS,
            f"src/{name}.relay": b'#[version = "0.0.5"]\n',
        }
    return files | {
        "runtime/include/tvm/runtime/c_runtime_api.h": b"",
        "templates/crt_config.h.template": b"",
    }


def operator() -> dict[str, bytes]:
    """A library in v0.14's "operator" style, which has no modules."""
    buffer = {"size_bytes": 2, "shape": [2], "dtype": "int8"}
    record = {
        "version": 7,
        "model_name": "add",
        "export_datetime": "2023-10-20 10:09:08Z",
        "memory": {"add": [buffer | {"input_binding": "A"}, buffer | {"input_binding": "C"}]},
        "target": [C],
        "executors": [],
        "style": "operator",
    }
    return {
        "metadata.json": _json(record),
        "codegen/host/src/lib0.c": b"",
        "src/tir-1.txt": b"",
    }


def _json(record: dict[str, Any]) -> bytes:
    return json.dumps(record, indent=2, sort_keys=True).encode()


def pack(files: dict[str, bytes], tar_format: int = tarfile.PAX_FORMAT, mode: str = "w") -> bytes:
    """A tar as TVM's ``_make_tar`` writes it.

    Names begin with ``./``, and times have fractions, which Python writes as pax headers.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode, format=tar_format) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo(".")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size, member.mtime = len(data), 1697800000.25
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
