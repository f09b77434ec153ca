"""The registers that Thumb instructions name, read and write, by their text."""

from __future__ import annotations

import re

# As objdump prints them.
_NAMES = {"r10": "sl", "r11": "fp", "r12": "ip", "r13": "sp", "r14": "lr", "r15": "pc"}
_NUMBERED = {name: number for number, name in _NAMES.items()}
_WORDS = {"s": 1, "d": 2, "q": 4}  # of a register of the FPU or of MVE
_REGISTERS = re.compile(r"\b(?:[rsdq]\d+(?:\s*-\s*[rsd]\d+)?|sl|fp|ip|sp|lr|pc)\b")

# They write no general register, except a base with writeback.
_NO_RESULT = re.compile(
    r"(push|str|stm|vst|stc|cmp|cmn|tst|teq|pld|pli|dsb|isb|dmb|nop|it|cbz|cbnz|bkpt|svc|cps|wf|sev"
    r"|clrex|udf|yield|vcmp|vmsr|vpush|vpt|vpst|vpnot|vctp|le|b$|bx$).*"
)
# For a name that the next row does not know, one result more costs nothing but precision.
_TWO_RESULTS = re.compile(r"(ldrd|ldrexd|[su]mull|[su]mlal|smlsld|umaal|mrrc|\w+l$|v).*")
_ONE_RESULT = re.compile(
    r"(mul|smmulr?|lsl|sel)s?|v(abs|add(?!l)|and|bic|brsr|cl[sz]|cvt|div|dup|eor|fn?m[as]|hadd|hsub|ldr|max"
    r"|min|ml[as](?!l)|mov[.ln]|mrs|mul|mvn|neg|nml[as]|nmul|or[nr]|psel|q|rev|rhadd|rint|r?shl(?!c)"
    r"|r?shr|sel|sli|sqrt|sri|sub).*"
)
_LISTS = re.compile(r"(?!v|push|stm)|vldm|vpop")  # of registers that are written
# They read the operands that they write.
_ACCUMULATES = re.compile(
    r"[us]ml[as]l\w*|umaal|v(?:n|f|fn)?m(?:la|ls|a|s)\..*|vml[as].*|vqdml.*|vaddva.*|movt|bfi|bfc"
    r"|vmlalv.*|vrmlald.*|vmov\.\d+|vmin.?v.*|vmax.?v.*|v[id]w?dup.*|vshlc"
    r"|[us]q?r?sh[lr]l|ls[lr]l|asrl"
)
# With two operands, they only write the first. In all others the first of two operands is also a
# source, because Thumb leaves out a source that is the destination.
_NEW_DESTINATION = re.compile(
    r"mov|mvn|ldr|vldr|vmov|vcvt|uxt|sxt|clz|rbit|rev|vdup|adr|neg|vabs|vneg|vsqrt|v?mrs|vmvn"
    r"|vmax|vaddv|dls"
)


def register_name(text: str) -> str:
    """The name under which a register is tracked: r11 and fp are one register."""
    return _NAMES.get(text, text)


def register_list(text: str) -> list[str]:
    """The registers of ``{r4, r6-r8, lr}``."""
    names: list[str] = []
    for part in text.strip("{}^ ").split(","):
        first, _, last = part.strip().partition("-")
        names += _register_range(first, last) if last else [register_name(first)]
    return names


def _register_range(first: str, last: str) -> list[str]:
    start, end = _NUMBERED.get(first, first), _NUMBERED.get(last, last)
    return [register_name(f"{start[0]}{i}") for i in range(int(start[1:]), int(end[1:]) + 1)]


def words_of(name: str) -> list[str]:
    """The registers of one word that a register consists of: s14 and s15 for d7."""
    count = _WORDS.get(name[0]) if re.fullmatch(r"[sdq]\d+", name) else None
    if count is None:
        return [register_name(name)]
    # d1 is s2 and s3, and q1 is s4 to s7: an instruction may use a part of another one's result.
    return [f"s{int(name[1:]) * count + i}" for i in range(count)]


def registers(operands: tuple[str, ...]) -> frozenset[str]:
    """The registers that operands name, inside of addresses and lists, too."""
    texts = (word for operand in operands for word in _REGISTERS.findall(operand))
    return frozenset(
        word for text in texts for name in register_list(text) for word in words_of(name)
    )


def results_and_sources(
    name: str, operands: tuple[str, ...]
) -> tuple[frozenset[str], frozenset[str]]:
    """The registers that an instruction may write, except by writeback, and the registers that it
    reads."""
    if name in ("bkpt", "svc"):  # semihosting and system calls return their result in r0
        return frozenset({"r0"}), frozenset()
    if name == "msr" or not operands or _NO_RESULT.fullmatch(name):
        return frozenset(), registers(operands)
    if operands[-1].startswith("{") and _LISTS.match(name):
        listed = (word for text in register_list(operands[-1]) for word in words_of(text))
        return frozenset(listed), address_registers(name, operands)
    has_two = _TWO_RESULTS.fullmatch(name) and not _ONE_RESULT.fullmatch(name)
    first = results = 2 if has_two else 1
    is_source = len(operands) == 2 and results == 1 and not _NEW_DESTINATION.match(name)
    if is_source or len(operands) <= results or _ACCUMULATES.fullmatch(name):
        first = 0
    return registers(operands[:results]), registers(operands[first:])


def address_registers(name: str, operands: tuple[str, ...]) -> frozenset[str]:
    """The registers of an instruction's address: of the operand in brackets, or the base of a list
    that is loaded."""
    for text in operands:
        if "[" in text:
            return registers((text,))
    # `pop` does not name its base.
    if not (operands and operands[-1].startswith("{") and _LISTS.match(name)):
        return frozenset()
    return registers(operands[:-1]) or frozenset({"sp"})
