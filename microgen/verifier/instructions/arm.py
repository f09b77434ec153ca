"""The effects of Thumb instructions, by their text: Armv6-M to Armv8.1-M.

Source of the meanings: Armv8-M Architecture Reference Manual (DDI 0553), chapter C2.
"""

from __future__ import annotations

import re
from dataclasses import replace

from microgen.verifier.instructions import instruction as language
from microgen.verifier.instructions.arm_registers import (
    address_registers,
    register_list,
    register_name,
    registers,
    results_and_sources,
    words_of,
)
from microgen.verifier.instructions.instruction import (
    CONDITIONS,
    NEXT,
    NOTHING,
    OPPOSITE,
    Access,
    ControlFlow,
    Effect,
    EffectiveAddress,
    FlowKind,
    Number,
    Predicate,
    Register,
    Relative,
    Source,
    UnknownSource,
    Update,
    decoder,
)
from microgen.verifier.instructions.listing import UNDEFINED

_PC = Relative(4, 4)  # as an operand

_NOTHING = ("nop", "dsb", "dmb", "isb", "yield", "pld")
COMPARES = {"cmp": "compare", "cmn": "compare sum", "tst": "compare and", "teq": "compare xor"}
_UNARY = {
    "mov": "move",
    "movw": "move",
    "mvn": "not number",
    "neg": "negate",
    "uxtb": "low byte",
    "uxth": "low half",
    "movt": "move top",
}
_BINARY = {
    "add": "add",
    "addw": "add",
    "adc": "add with carry",
    "sub": "subtract",
    "subw": "subtract",
    "sbc": "subtract with carry",
    "rsb": "subtract from",
    "and": "and",
    "orr": "or",
    "bic": "and not",
    "mul": "multiply",
    "lsl": "shift left",
    "lsr": "shift right",
}
# They write their first operand, with a value that no domain needs.
_HAVOC = re.compile(r"(mul|mla|mls|udiv|sdiv|rev|rev16|clz|rbit|ror|asr|eor|sxt[bh]|[su]bfx|bfi)s?")
_SELECTS = {
    "csel": "select",
    "csinc": "select increment",
    "csinv": "select inverse",
    "csneg": "select negative",
}
_SHIFTED = re.compile(r"(lsl|lsr|asr|ror) .*|rrx")

_SINGLE = re.compile(r"(ldr|str)(?P<signed>s?)(?P<size>[bh]?)(?P<double>d?)")
_VECTOR = re.compile(r"v(?:ldr|str)(?P<size>w?)")
_SEVERAL = re.compile(r"v?(?P<way>ldm|stm|push|pop)(ia|db)?")
_TRANSFER = re.compile(r"(v?(ldr|str|ldm|stm|push|pop)).*")
_SIZES = {"": 4, "b": 1, "h": 2}  # bytes, by the mnemonic's suffix
# Calls of non-secure code, and branches that happen at a later instruction.
_UNKNOWN = frozenset({UNDEFINED, "blxns", "bf", "bfx", "bfl", "bflx", "bfcsel"})
_STACK_POINTERS = ("msp", "psp", "control")
_LOOP_ENDS = ("le", "letp", "wls", "wlstp")


def _number(text: str) -> int:
    """The value of ``#-4`` or ``#0x10``. Raises ValueError if it is not an integer."""
    return int(text.removeprefix("#"), 0)


def _source(text: str) -> Source:
    if text.startswith("#"):
        return Number(_number(text))
    return _PC if text == "pc" else Register(register_name(text))


@decoder
def effect(name: str, operands: tuple[str, ...]) -> Effect:
    """The effect of an instruction."""
    if name in _UNKNOWN or (name == "msr" and operands[0].lower() in _STACK_POINTERS):
        return language.UNDEFINED
    if name == "bxns":
        return Effect("unmodelled", flow=ControlFlow("indirect jump"))
    address = address_registers(name, operands)
    if (flow := _control(name, operands)) is not None:
        return Effect("", flow=flow, reads=registers(operands), address=address)
    try:
        computed = _computed(name, operands)
    except (LookupError, ValueError):
        computed = Effect("unmodelled")
    clobbers, reads = results_and_sources(name, operands)
    if name == "vmov" and computed.operation == "move words":
        clobbers = frozenset(computed.targets)
        reads = frozenset(s.name for s in computed.sources if isinstance(s, Register))
    is_first = operands[:1] == ("pc",) or name.startswith(("pop", "ldm"))
    # A store has the program counter among its sources only.
    has_left = "pc" in computed.targets or (is_first and "pc" in clobbers)
    flow = _leaving(name, operands) if has_left else NEXT
    return replace(
        computed,
        update=_write_back(name, operands),
        flow=flow,
        clobbers=clobbers,
        reads=reads,
        address=address,
    )


def _control(name: str, operands: tuple[str, ...]) -> ControlFlow | None:
    """The flow of an instruction that does nothing else; None if it does."""
    if name == "bl":
        return ControlFlow("call", link="lr")
    if name in ("bx", "blx"):
        target = EffectiveAddress(Register(register_name(operands[-1])))
        if name == "blx":
            return ControlFlow("indirect call", target, "lr")
        return ControlFlow("return" if operands[-1] == "lr" else "indirect jump", target)
    if name[:1] == "b" and name[1:] in CONDITIONS:
        return ControlFlow("branch", test=Predicate(name[1:]))
    if name in ("cbz", "cbnz"):
        values = _source(operands[0]), Number(0)
        return ControlFlow("branch", test=Predicate("eq" if name == "cbz" else "ne", values))
    if name in _LOOP_ENDS:
        return ControlFlow("branch")
    simple: dict[str, FlowKind] = {"b": "jump", "tbb": "switch", "tbh": "switch", "udf": "stop"}
    return ControlFlow(simple[name]) if name in simple else None


def _leaving(name: str, operands: tuple[str, ...]) -> ControlFlow:
    """The flow of an instruction that writes the program counter."""
    if name == "mov" and len(operands) == 2:
        kind: FlowKind = "return" if operands[1] == "lr" else "indirect jump"
        return ControlFlow(kind, EffectiveAddress(Register(register_name(operands[1]))))
    is_popped = name == "ldr" and len(operands) == 3 and operands[1] == "[sp]"
    is_return = is_popped or name.startswith(("pop", "ldm"))
    return ControlFlow("return" if is_return else "indirect jump")


def _computed(name: str, operands: tuple[str, ...]) -> Effect:
    """The effect of the instruction without writeback and flow. Raises LookupError or ValueError if
    this module does not know the form of its text."""
    if name in _NOTHING or name.startswith("it"):
        return NOTHING
    if _TRANSFER.fullmatch(name):
        return _transfer(name, operands)
    if name in _SELECTS or name in ("cset", "csetm", "cinc"):
        return _select(name, operands)
    if name.startswith("v"):
        return _vector_move(name, operands)
    target = register_name(operands[0])
    sources = tuple(map(_source, operands[1:]))
    if _SHIFTED.fullmatch(operands[-1]):
        sources = (*sources[:-2], UnknownSource(operands[-1]))
    if name in COMPARES:
        left, right = _source(operands[0]), *sources
        return Effect(COMPARES[name], sources=(left, right), sets_flags=True)
    return _of_sources(name, target, sources)


def _of_sources(name: str, target: str, sources: tuple[Source, ...]) -> Effect:
    """An instruction that computes one value."""
    # The s of `mls` is part of its name and sets no flags.
    stem = name.removesuffix("s") if name != "mls" else name
    has_flags, count = stem != name, len(sources)
    # objdump leaves out the program counter as the first source, so it is added here.
    if target == "pc" and count == 1 and stem in _BINARY:
        return _of_sources(name, target, (_PC, *sources))
    # `negs` is the assembler's name of `rsbs` with 0, which decides the flags.
    if name == "negs" and count == 1:
        return Effect("subtract from", (target,), (*sources, Number(0)), has_flags)
    if stem in _UNARY and count == 1:
        return Effect(_UNARY[stem], (target,), sources, has_flags)
    is_opaque = any(isinstance(source, UnknownSource) for source in sources)
    # Nothing is known of a shifted operand, and no address is computed from a sum with a carry.
    if stem in _BINARY and count in (1, 2) and not (is_opaque and stem in ("adc", "sbc")):
        return Effect(_BINARY[stem], (target,), sources, has_flags)
    if name == "bfc":
        return Effect("clear bits", (target,), sources)
    is_other_form = (stem in _UNARY or stem in _BINARY) and stem not in ("movt", "adc", "sbc")
    if not (is_other_form or _HAVOC.fullmatch(stem)):
        raise ValueError
    return Effect("havoc", (target,), (), has_flags)


def _select(name: str, operands: tuple[str, ...]) -> Effect:
    """``csel`` and similar instructions, whose last operand is a condition."""
    target, *values, condition = operands
    sources = tuple(Number(0) if text == "zr" else _source(text) for text in values)
    if name in ("cset", "csetm"):
        name, sources = "csel", (Number(1 if name == "cset" else -1), Number(0))
    elif name == "cinc":
        name, sources, condition = "csinc", (*sources, *sources), OPPOSITE[condition]
    left, right = sources
    test = Predicate(condition)
    return Effect(_SELECTS[name], (register_name(target),), (left, right), test=test)


def _vector_move(name: str, operands: tuple[str, ...]) -> Effect:
    """``vmov`` between registers, or ``vmov`` and ``vdup`` of a number into each word of a
    vector."""
    stem, _, width = name.partition(".")
    targets = words_of(operands[0])
    words = [word for text in operands[1:] for word in words_of(text)]
    sources: list[Source] = [Register(word) for word in words]
    if stem == "vdup":
        sources = [sources[0] if width == "32" else UnknownSource(operands[1])] * len(targets)
    elif stem != "vmov" or width == "f16" or "[" in "".join(operands):  # a part of a register
        raise ValueError
    elif operands[1].startswith("#"):
        value = Number(_number(operands[1]))
        # A float's immediate is printed as its encoding; smaller integers are repeated.
        is_word = width in ("i32", "u32", "s32")
        sources = [value if is_word else UnknownSource(operands[1])] * len(targets)
    elif len(sources) != len(targets):  # `vmov r2, r3, d7`
        both = [*targets, *words]
        half = len(both) // 2
        targets, sources = both[:half], [Register(word) for word in both[half:]]
    if len(sources) != len(targets):
        raise ValueError
    return Effect("move words", tuple(targets), tuple(sources))


def _transfer(name: str, operands: tuple[str, ...]) -> Effect:
    """A load or store of one or more registers."""
    stem, _, width = name.partition(".")
    if match := _SEVERAL.fullmatch(stem):
        names = tuple(word for text in register_list(operands[-1]) for word in words_of(text))
        is_stack = match["way"] in ("push", "pop")
        base = "sp" if is_stack else register_name(operands[0].rstrip("!"))
        is_below = match["way"] == "push" or name.endswith("db")
        address = EffectiveAddress(Register(base), -4 * len(names) if is_below else 0)
        return _access("load several", names, Access(address, match["way"] in ("push", "stm")))
    if match := _SINGLE.fullmatch(stem):
        count, size = 2 if match["double"] else 1, _SIZES[match["size"]]
        is_signed = bool(match["signed"])
        operation = "load" if name == "ldr" else "load several"
    elif match := _VECTOR.fullmatch(stem):
        # Narrower elements are extended, or leave parts of the words as they are.
        if match["size"] and width not in ("32", "u32", "s32"):
            raise ValueError
        count, size, is_signed, operation = 1, 4, False, "load vector"
    else:
        raise ValueError
    names = tuple(word for text in operands[:count] for word in words_of(text))
    address = _address(operands[count], is_after=len(operands) > count + 1)
    is_store = stem.startswith(("str", "vstr"))
    return _access(operation, names, Access(address, is_store, size, is_signed))


def _access(operation: str, names: tuple[str, ...], access: Access) -> Effect:
    if access.is_store:
        return Effect("store", (), tuple(map(Register, names)), access=access)
    return Effect(operation, names, access=access)


def _address(text: str, is_after: bool) -> EffectiveAddress:
    """``[r0, #4]`` and ``[r0, r1, lsl #2]``. ``is_after``: an operand that changes the base
    follows."""
    base, *index = (part.strip() for part in text.strip("[]!").split(","))
    source = _source(base)
    if not index or is_after:
        return EffectiveAddress(source)
    if index[0].startswith("#"):
        return EffectiveAddress(source, _number(index[0]))
    shift = _number(index[1].removeprefix("lsl").strip()) if len(index) > 1 else 0
    return EffectiveAddress(source, index=register_name(index[0]), shift=shift)


def _write_back(name: str, operands: tuple[str, ...]) -> Update | None:
    if name in ("push", "vpush"):
        return Update("sp", -_list_bytes(operands[-1]))
    if name in ("pop", "vpop"):
        return Update("sp", _list_bytes(operands[-1]))
    if name.startswith(("stm", "ldm", "vstm", "vldm")) and operands[0].endswith("!"):
        sign = -1 if "db" in name else 1
        return Update(register_name(operands[0][:-1]), sign * _list_bytes(operands[-1]))
    return _indexed(operands)


def _list_bytes(text: str) -> int:
    sizes = {"d": 8, "q": 16}  # bytes; all others have 4
    return sum(sizes.get(name[0], 4) for name in register_list(text) if name != "vpr")


def _indexed(operands: tuple[str, ...]) -> Update | None:
    """``[rn, #4]!`` and ``[rn], #4``."""
    memory = next((i for i, text in enumerate(operands) if text.startswith("[")), None)
    if memory is None:
        return None
    text = operands[memory]
    base, _, index = text.strip("[]!").partition(",")
    if text.endswith("!"):
        change = index.strip()
    elif memory + 1 < len(operands):
        change = operands[memory + 1]
    else:
        return None
    # A change by a register is not followed.
    is_known = change.startswith("#")
    return Update(register_name(base.strip()), _number(change) if is_known else None)
