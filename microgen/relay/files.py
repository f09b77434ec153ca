"""``.relay`` files: the text, and a ``.params`` file with its arrays, in TVM's format.

``net.relay`` has ``net.params``. An array there is either the data of a constant of the text
(``relay.Constant.0`` is ``meta[relay.Constant][0]``), or the value of a parameter of ``@main``,
by the parameter's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from microgen.base.errors import ModelError, ProjectError
from microgen.base.files import write_whole
from microgen.graph import params_file
from microgen.graph.ir.graph import Array
from microgen.relay.expr import Constant, Expr, Function, Var
from microgen.relay.infer_type import infer_type
from microgen.relay.module import IRModule, printed
from microgen.relay.op.base import nearest
from microgen.relay.parser import parse
from microgen.relay.visit import post_order, rebuilt

_CONSTANT = "relay.Constant."


def load(path: Path) -> tuple[IRModule, Mapping[str, Array]]:
    """The module of a ``.relay`` file, and the values of parameters in its ``.params`` file.

    Raises ModelError if a file cannot be read or is malformed.
    """
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError("cannot be read as text", where=path.name) from error
    arrays = _arrays(path.with_suffix(".params"))
    constants = {name: a for name, a in arrays.items() if name.startswith(_CONSTANT)}
    params = {name: a for name, a in arrays.items() if name not in constants}
    return parse(text, path.name, constants), params


def _arrays(path: Path) -> Mapping[str, Array]:
    if not path.is_file():
        return {}
    try:
        return params_file.loads(path.read_bytes())
    except OSError as error:
        raise ModelError("cannot be read", where=path.name) from error
    except ProjectError as error:
        raise ModelError(error.what, where=path.name) from error


def save(module: IRModule, path: Path, params: Mapping[str, Array] | None = None) -> None:
    """Write a module to ``path``, and the arrays of its constants and of ``params`` next to it.

    Without arrays there is no second file. Raises ProjectError for a dtype that param files do not
    support.
    """
    for suffix, data in dumps(module, params).items():
        write_whole(path.with_suffix(suffix), data)


def dumps(module: IRModule, params: Mapping[str, Array] | None = None) -> dict[str, bytes]:
    """The files of a module by suffix. ``save`` describes them."""
    text, constants = printed(module)
    arrays = {**constants, **(params or {})}
    files = {".relay": text.encode()}
    return {**files, ".params": params_file.dumps(arrays)} if arrays else files


def bind_params(module: IRModule, params: Mapping[str, Array]) -> IRModule:
    """The module with the named parameters of ``@main`` replaced by constants.

    Raises ModelError for a name that is not a parameter, and for an array of another type.
    """
    main = module["main"]
    by_name = {p.name_hint: p for p in main.params}
    bound: dict[Expr, Expr] = {}
    for name, array in params.items():
        if name not in by_name:
            hint = nearest(name, by_name)
            raise ModelError(f"no parameter of @main is named {name!r}", where="params", hint=hint)
        bound[by_name[name]] = _constant(by_name[name], array)
    # The others remain parameters, in their order.
    left = tuple(p for p in main.params if p not in bound)
    body = _replaced(main.body, bound)
    function = Function(left, body, main.ret_type, main.attrs, main.span)
    return infer_type(IRModule(MappingProxyType({**module.functions, "main": function})))


def _constant(param: Var, array: Array) -> Constant:
    # At the parameter's place, so that later errors name the text.
    constant = Constant(array, param.span)
    expected = param.type_annotation
    if constant.type != expected:
        what = f"the array for %{param.name_hint} is {constant.type}, expected {expected}"
        raise ModelError(what, where=str(param.span) if param.span else "params")
    return constant


def _replaced(root: Expr, known: dict[Expr, Expr]) -> Expr:
    """``root`` with some expressions replaced, and all expressions that use them rebuilt."""
    for expr in post_order(root):
        if expr not in known:
            known[expr] = rebuilt(expr, known)
    return known[root]
