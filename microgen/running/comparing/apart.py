"""Runs an oracle in a process of its own, because the oracle's library may end its process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from microgen import frontends
from microgen.building import guard, toolchain
from microgen.frontends.model_format import Oracle, OracleError
from microgen.graph.ir.graph import Array

_SECONDS = 600.0  # far longer than any network takes: it only bounds hangs
_REQUEST, _ANSWER = "request.json", "answer.json"
_SHOWN = 200  # characters of the library's messages


def layers(
    oracle: Oracle, model: Path, signature: str, samples: Sequence[Sequence[Array]]
) -> Iterator[Mapping[str, Array]]:
    """The result of ``oracle.layers`` for the model's file. Raises OracleError if the oracle
    refuses the model or ends the process, with the messages that the oracle's library has printed.
    """
    with guard.scratch() as folder:
        for i, sample in enumerate(samples):
            # numpy calls arrays without a name arr_0, arr_1, and so on.
            np.savez(folder / f"in{i}.npz", *sample)
        # Bytes and arrays pass through files, because the library may print to the child's standard
        # output.
        request = {"model": str(model.resolve()), "signature": signature, "profile": oracle.profile}
        (folder / _REQUEST).write_text(json.dumps({**request, "count": len(samples)}))
        # -P, because otherwise modules could come from the current folder, which has the samples.
        command = (sys.executable, "-P", "-m", __spec__.name, folder)
        # An empty entry means the current folder, which is another one in the child.
        path = os.pathsep.join(filter(None, sys.path))
        ended = toolchain.run(command, seconds=_SECONDS, env={"PYTHONPATH": path}, cwd=folder)
        answer = folder / _ANSWER
        # The answer is the last file that the child writes, so without it the child ended before.
        if not answer.exists():
            how = "does not end" if ended.status is None else f"ends with status {ended.status}"
            raise OracleError(f"{oracle.name} {how}{_reason(ended.output)}")
        refusal, names = json.loads(answer.read_text())
        if refusal:
            raise OracleError(f"{refusal}{_reason(ended.output)}")
        for i, own in enumerate(names):
            with np.load(folder / f"out{i}.npz") as arrays:
                yield {name: arrays[f"arr_{k}"] for k, name in enumerate(own)}


def _reason(output: str) -> str:
    text = " ".join(output.split())[:_SHOWN]
    return f": {text}" if text else ""


def _answer(folder: Path) -> None:
    """Run the oracle, and write its layers or the reason of its refusal."""
    request = json.loads((folder / _REQUEST).read_text())
    model = Path(request["model"])
    oracle = frontends.oracle(model, request["signature"], request["profile"])
    assert oracle is not None, "the caller has found it"
    samples = []
    for i in range(request["count"]):
        with np.load(folder / f"in{i}.npz") as arrays:
            samples.append([arrays[name] for name in arrays.files])
    names, refusal = [], ""
    try:
        for i, tensors in enumerate(oracle.layers(frontends.files(model), samples)):
            np.savez(folder / f"out{i}.npz", *tensors.values())
            names.append(list(tensors))
    # Other exceptions are defects of the oracle's importer; they end the child, and its output says
    # why.
    except OracleError as error:
        refusal = error.what
    (folder / _ANSWER).write_text(json.dumps([refusal, names]))


if __name__ == "__main__":
    _answer(Path(sys.argv[1]))
