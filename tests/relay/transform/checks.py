"""What holds after every pass, and what modules of several functions are without them."""

from __future__ import annotations

from collections.abc import Mapping

from microgen import relay
from microgen.relay.expr import Call, Expr, Function, GlobalVar, Let, TupleGetItem, Var
from microgen.relay.module import IRModule
from microgen.relay.transform import OperatorCall, Support
from microgen.relay.transform.annotated_regions import AnnotatedRegion, AnnotatedRegions, is_mark
from microgen.relay.visit import operands, post_order, rebuilt


def accept(_call: OperatorCall) -> str | None:
    """A predicate that takes everything."""
    return None


def support(name: str, *ops: str) -> Support:
    """A codegen that takes all calls of some operators."""
    return Support(name, dict.fromkeys(ops, accept))


def inlined(module: IRModule) -> Expr:
    """The value of @main: no functions, lets, annotations, and no fields of tuples just made."""
    return _inlined(module, module["main"].body, {})


def _inlined(module: IRModule, root: Expr, given: Mapping[Expr, Expr]) -> Expr:
    known = dict(given)
    bound = {e.var: e.value for e in post_order(root) if isinstance(e, Let)}
    for expr in post_order(root):
        if isinstance(expr, Var) and expr in bound:
            known[expr] = known[bound[expr]]
        elif expr not in known:
            known[expr] = _one(module, expr, known)
    return known[root]


def _one(module: IRModule, expr: Expr, known: dict[Expr, Expr]) -> Expr:
    if isinstance(expr, Let):
        return known[expr.body]
    if isinstance(expr, Call) and (is_mark(expr) or not isinstance(expr.op, relay.Op)):
        args = [known[a] for a in expr.args]
        if is_mark(expr):
            return args[0]
        callee = module[expr.op.name_hint] if isinstance(expr.op, GlobalVar) else expr.op
        assert isinstance(callee, Function)
        return _inlined(module, callee.body, dict(zip(callee.params, args, strict=True)))
    new = rebuilt(expr, known)
    if isinstance(new, TupleGetItem) and isinstance(new.tuple_value, relay.Tuple):
        return new.tuple_value.fields[new.index]
    return _whole(new)


def _whole(expr: Expr) -> Expr:
    """The tuple that a tuple takes apart and puts together again."""
    fields = expr.fields if isinstance(expr, relay.Tuple) else ()
    read = [(f.tuple_value, f.index) for f in fields if isinstance(f, TupleGetItem)]
    if read and len(read) == len(fields) and read == [(read[0][0], i) for i in range(len(read))]:
        return read[0][0]
    return expr


def same_value(module: IRModule, original: IRModule) -> bool:
    """Whether @main computes the same, and has the same parameters and type."""
    new, old = module["main"], original["main"]
    assert new.params == old.params
    assert new.ret_type == old.ret_type
    return relay.structural_equal(
        Function(new.params, inlined(module)), Function(old.params, inlined(original))
    )


def check_types(module: IRModule) -> None:
    """The types that a pass carried over are those that inference finds, and no others."""
    assert module.types is not None
    found = relay.infer_type(IRModule(module.functions)).types
    assert found is not None
    assert dict(module.types) == dict(found)


def check_text(module: IRModule) -> None:
    """The text comes back."""
    text, constants = relay.printed(module)
    again = relay.parse(text, constants=constants)
    assert relay.printed(again)[0] == text
    assert relay.structural_equal(again, module)


def check_convex(module: IRModule) -> None:
    """No way leads out of a region and back, tried from every value that leaves it."""
    for function in module.functions.values():
        regions = AnnotatedRegions(function.body)
        users: dict[Expr, list[Expr]] = {}
        for expr in post_order(function.body):
            for value in operands(expr):
                users.setdefault(value, []).append(expr)
        for region in set(regions.of.values()):
            assert not _reached_again(region, users)


def _reached_again(region: AnnotatedRegion, users: Mapping[Expr, list[Expr]]) -> bool:
    inside, seen = set(region.nodes), set[Expr]()
    stack = [u for e in region.nodes for u in users.get(e, ()) if u not in inside]
    while stack:
        expr = stack.pop()
        if expr in inside:
            return True
        if expr not in seen:
            seen.add(expr)
            stack.extend(users.get(expr, ()))
    return False


def module(body: str, params: str = "%x: Tensor[(4, 4), float32]", more: str = "") -> IRModule:
    """A parsed module of @main, and ``more`` functions."""
    return relay.parse(f"def @main({params}) {{\n{body}\n}}\n{more}")


def externals(module: IRModule) -> list[str]:
    """The names of external functions, in order."""
    return [name for name, f in module.functions.items() if "Compiler" in f.attrs]


def parameters(module: IRModule, name: str) -> list[str]:
    """The names of a function's parameters."""
    return [p.name_hint for p in module[name].params]


def spelled(expr: Expr) -> str:
    """An expression in one line, without annotations' names: ``<A x>`` enters, ``{A x}`` leaves."""
    known: dict[Expr, str] = {}
    for e in post_order(expr):
        known[e] = _spelled(e, known)
    return known[expr]


def _spelled(expr: Expr, known: Mapping[Expr, str]) -> str:
    match expr:
        case Call(args=args) if is_mark(expr):
            left, right = "<>" if expr.op == relay.Op("annotation.compiler_begin") else "{}"
            return f"{left}{expr.attrs['compiler']} {known[args[0]]}{right}"
        case Call(op, args):
            name = op.name if isinstance(op, relay.Op) else known.get(op, str(op))
            return f"{name.removeprefix('nn.')}({', '.join(known[a] for a in args)})"
        case relay.Tuple(fields):
            return f"({', '.join(known[f] for f in fields)})"
        case TupleGetItem(value, index):
            return f"{known[value]}.{index}"
        case Var(name):
            return name
        case Function():
            return str(expr.attrs.get("Composite", "fn"))
        case _:
            return type(expr).__name__.lower()
