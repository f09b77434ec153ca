"""The code that the models' run functions reach: in the scope "model", the model's part of a
firmware, which otherwise may use a heap, recursion and the C library."""

from __future__ import annotations

from collections.abc import Callable

from microgen.verifier.checks import linked
from microgen.verifier.stack import call_graph, unknown_modules
from microgen.verifier.subject import Finding, Reached, Subject, judged, not_applicable


def reached(subject: Subject) -> Reached:
    """Follow the run functions of all models. On the host nothing is followed, so every function is
    treated as reached. Raises ToolError if objdump is missing."""
    elf = subject.elf
    if subject.board.is_host:
        return Reached([s for s in elf.symbols if s.kind != "object"], 0, (), ())
    graph = call_graph(subject, from_reset=False)
    names = [*_run_names(subject), *_of_executor(subject)]
    runs = [s for name in names for s in elf.named(name, "func")]
    depths = [graph.depth(elf.code_address(symbol)) for symbol in runs]
    nbytes, path = max(depths, default=(0, ()))
    problems = [*graph.problems, *unknown_modules(subject, graph)]
    if not runs:
        problems.append(f"there is no function {', '.join(_run_names(subject))}")
    functions = [
        symbol
        for symbol in elf.symbols
        if symbol.kind != "object" and elf.code_address(symbol) in graph.frames
    ]
    return Reached(functions, nbytes, path, tuple(dict.fromkeys(problems)))


def _run_names(subject: Subject) -> list[str]:
    modules = subject.manifest.modules
    return [*dict.fromkeys(name for m in modules for name in (f"{m.prefix}_run", m.entry))]


def _of_executor(subject: Subject) -> list[str]:
    """The functions of the graph executor that a program may call instead of the run function."""
    if not linked.calls_executor(subject):
        return []
    own = f"{subject.manifest.prefix}_graph_executor"
    names = {symbol.name for symbol in subject.elf.functions()}
    return sorted(name for name in names if name.startswith("TVMGraphExecutor_") or name == own)


def if_followed(check: Callable[[Subject], Finding]) -> Callable[[Subject], Finding]:
    """A check of the reached functions. It is ``n/a`` instead of ok if some of these functions
    could not be found."""

    def checked(subject: Subject) -> Finding:
        finding = check(subject)
        if finding.status == "ok" and subject.reached().problems:
            return not_applicable("some calls of the model could not be followed: see stack")
        return finding

    return checked


def stack(subject: Subject) -> Finding:
    """The stack of the run functions is bounded. The host's threads reserve it, so no reserve is
    compared with it."""
    if subject.board.is_host:
        return not_applicable("the host's stack is not the firmware's")
    bound = subject.reached()
    names = ", ".join(_run_names(subject))
    expected = f"a bound for {names}, no recursion, no unknown call"
    text = f"{bound.nbytes} bytes: {' -> '.join(bound.path)}"
    return judged(expected, bound.problems, text, bound=bound.nbytes)
