"""The page allocator and the weak defaults of TVM's platform functions."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from microgen.base import resources
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_CC

CRT = resources.folder("crt")
OPTIONS = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
INCLUDED = (f"-I{CRT / 'include'}", f"-I{CRT / 'src'}")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

PAGES = """
#include "tvm/runtime/crt/page_allocator.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x) do { if (!(x)) { printf("line %d\\n", __LINE__); exit(1); } } while (0)

static uint8_t pool[8192] __attribute__((aligned(16)));
static MemoryManagerInterface *m;
static const DLDevice cpu = {kDLCPU, 0};

static void refusals(void)
{
    void *block = pool;
    void *first;

    CHECK(PageMemoryManagerCreate(NULL, pool, sizeof(pool), 8U) == kTvmErrorFunctionCallInvalidArg);
    CHECK(PageMemoryManagerCreate(&m, NULL, 100U, 8U) == kTvmErrorFunctionCallInvalidArg);
    CHECK(PageMemoryManagerCreate(&m, pool, sizeof(pool), 3U) == kTvmErrorFunctionCallInvalidArg);
    CHECK(PageMemoryManagerCreate(&m, pool, sizeof(pool), 31U) == kTvmErrorFunctionCallInvalidArg);
    CHECK(PageMemoryManagerCreate(&m, pool, 0U, 4U) == kTvmErrorPlatformNoMemory);
    CHECK(PageMemoryManagerCreate(&m, pool, 8U, 4U) == kTvmErrorPlatformNoMemory);
    CHECK(PageMemoryManagerCreate(&m, pool, sizeof(pool), 13U) == kTvmErrorPlatformNoMemory);
    CHECK(PageMemoryManagerCreate(&m, pool, sizeof(pool), 30U) == kTvmErrorPlatformNoMemory);
    CHECK(PageMemoryManagerCreate(&m, pool, sizeof(pool), 8U) == kTvmErrorNoError);
    CHECK(m->Allocate(m, SIZE_MAX, cpu, &block) == kTvmErrorPlatformNoMemory);
    CHECK(m->Allocate(m, sizeof(pool), cpu, &block) == kTvmErrorPlatformNoMemory && block == pool);
    CHECK(m->Allocate(m, 600U, cpu, &first) == kTvmErrorNoError && m->vleak_size == 1);
    CHECK(m->Free(m, (uint8_t *)first + 1, cpu) == kTvmErrorPlatformStackAllocBadFree);
    CHECK(m->Free(m, (uint8_t *)first + 256, cpu) == kTvmErrorPlatformStackAllocBadFree);
    CHECK(m->Free(m, (uint8_t *)first + 768, cpu) == kTvmErrorPlatformStackAllocBadFree);
    CHECK(m->Free(m, NULL, cpu) == kTvmErrorPlatformStackAllocBadFree);
    CHECK(m->Free(m, pool + sizeof(pool), cpu) == kTvmErrorPlatformStackAllocBadFree);
    CHECK(m->Free(m, &block, cpu) == kTvmErrorPlatformStackAllocBadFree && m->vleak_size == 1);
    CHECK(m->Free(m, first, cpu) == kTvmErrorNoError && m->vleak_size == 0);
    CHECK(m->Free(m, first, cpu) == kTvmErrorPlatformStackAllocBadFree);
}

/* All pages of a pool at once; what is freed in pieces is one block again. */
static void capacity(size_t offset, size_t page_log2)
{
    uint8_t *blocks[512];
    void *block;
    size_t count = 0U;
    size_t i;

    memset(pool, 0xA5, sizeof(pool));
    CHECK(PageMemoryManagerCreate(&m, pool + offset, sizeof(pool) - 2U * offset, page_log2) == 0);
    while (m->Allocate(m, 1U, cpu, &block) == kTvmErrorNoError) {
        blocks[count] = block;
        CHECK((uintptr_t)block % 16U == 0U && blocks[count][0] == 0U);
        memset(block, 0xFF, (size_t)1 << page_log2);
        count++;
    }
    CHECK((count + 1U) * (((size_t)1 << page_log2) + 4U) + 160U > sizeof(pool) - 2U * offset);
    for (i = 0U; i < offset; i++) {
        CHECK(pool[i] == 0xA5U && pool[sizeof(pool) - 1U - i] == 0xA5U);
    }
    for (i = 0U; i < count; i++) {
        /* In another order, unless 7 divides the number. */
        CHECK(m->Free(m, blocks[count % 7U == 0U ? i : (i * 7U) % count], cpu) == 0);
    }
    CHECK(m->vleak_size == 0);
    CHECK(m->Allocate(m, count << page_log2, cpu, &block) == kTvmErrorNoError);
    CHECK(m->Allocate(m, 0U, cpu, &block) == kTvmErrorPlatformNoMemory);
}

/* Blocks of random sizes, each with its own byte throughout. */
static void random_order(void)
{
    uint8_t *blocks[16] = {NULL};
    size_t sizes[16] = {0U};
    uint32_t state = 1U;
    int step;

    CHECK(PageMemoryManagerCreate(&m, pool, sizeof(pool), 5U) == kTvmErrorNoError);
    for (step = 0; step < 20000; step++) {
        size_t i;
        void *block;
        state = state * 1664525U + 1013904223U;
        i = (state >> 16) & 15U;
        if (blocks[i] != NULL) {
            size_t k;
            for (k = 0U; k < sizes[i]; k++) {
                CHECK(blocks[i][k] == (uint8_t)i);
            }
            CHECK(m->Free(m, blocks[i], cpu) == kTvmErrorNoError);
            blocks[i] = NULL;
        } else if (m->Allocate(m, sizes[i] = (state >> 20) % 1000U, cpu, &block) == 0) {
            blocks[i] = block;
            memset(block, (int)i, sizes[i]);
        }
    }
}

int main(void)
{
    refusals();
    capacity(0U, 4U);
    capacity(3U, 5U);
    capacity(16U, 8U);
    random_order();
    printf("ok\\n");
    return 0;
}
"""


@NEEDS_CC
def test_the_page_allocator(tmp_path: Path) -> None:
    (tmp_path / "pages.c").write_text(PAGES)
    command = ["cc", *OPTIONS, *SANITIZED, *INCLUDED, str(tmp_path / "pages.c")]
    command += [str(CRT / "src/page_allocator.c"), "-o", str(tmp_path / "pages")]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "pages"], capture_output=True, text=True, check=False)
    assert done.stdout == "ok\n", done.stdout + done.stderr


FORMAT = """
#include "tvm/runtime/crt/platform.h"
size_t formatted(char *out, size_t size, const char *fmt, ...);
size_t formatted(char *out, size_t size, const char *fmt, ...)
{
    va_list args;
    size_t length;
    va_start(args, fmt);
    length = TVMPlatformFormatMessage(out, size, fmt, args);
    va_end(args);
    return length;
}
"""


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("platform")
    (folder / "format.c").write_text(FORMAT)
    sources = [CRT / f"src/platform/{name}.c" for name in ("format_message", "platform_hooks")]
    command = ["cc", *OPTIONS, "-O2", "-shared", "-fPIC", *INCLUDED, str(folder / "format.c")]
    command += [*map(str, sources), "-o", str(folder / "platform.so")]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "platform.so"))


def said(platform: ctypes.CDLL, size: int, fmt: str, *args: object) -> bytes:
    """What is written into a buffer of that many bytes, which must keep within it."""
    buffer = ctypes.create_string_buffer(b"\xa5" * (size + 8), size + 8)
    length = platform.formatted(buffer, ctypes.c_size_t(size), fmt.encode(), *args)
    assert buffer.raw[size:] == b"\xa5" * 8
    assert size == 0 or buffer.raw[length] == 0
    return buffer.raw[:length]


NUMBERS = [0, 1, -1, 9, 10, -10, 2**31 - 1, -(2**31), 123456789]
LONG = [*NUMBERS, 2**63 - 1, -(2**63), 2**32, -(2**32) - 1]


@NEEDS_CC
@pytest.mark.parametrize("field", ["", "5", "-5", "05", "12", "-12", "012", "1"])
def test_numbers_are_formatted_as_c_does(platform: ctypes.CDLL, field: str) -> None:
    for value in NUMBERS:
        form = f"<%{field}d>"
        assert said(platform, 40, form, ctypes.c_int(value)) == form.encode() % value
        plain = value % 2**32
        for letter in "uxX":
            form = f"<%{field}{letter}>"
            expected = form.replace("u", "d").encode() % plain
            assert said(platform, 40, form, ctypes.c_uint(plain)) == expected
    for value in LONG:
        for length in ("l", "ll", "j", "z", "t"):
            form, expected = f"<%{field}{length}d>", f"<%{field}d>".encode() % value
            assert said(platform, 40, form, ctypes.c_longlong(value)) == expected
        form, expected = f"<%{field}llx>", f"<%{field}x>".encode() % (value % 2**64)
        assert said(platform, 40, form, ctypes.c_longlong(value)) == expected


@NEEDS_CC
def test_texts_are_formatted_as_c_does(platform: ctypes.CDLL) -> None:
    for field in ("", "3", "6", "-6"):
        assert said(platform, 40, f"<%{field}s>", b"abcd") == f"<%{field}s>".encode() % b"abcd"
    assert said(platform, 40, "%c%c%%%s|", ctypes.c_int(65), ctypes.c_int(66), b"") == b"AB%|"
    assert said(platform, 40, "%p %d", ctypes.c_void_p(0xBEEF), 7) == b"0xbeef 7"
    assert said(platform, 40, "") == b""


@NEEDS_CC
@pytest.mark.parametrize("form", ["%f", "%5.2f", "%e", "%", "%o", "%-", "%lq"])
def test_an_unknown_conversion_and_all_after_it_are_left_as_they_are(
    platform: ctypes.CDLL, form: str
) -> None:
    assert said(platform, 40, f"a %d {form} %d", 1, 2) == f"a 1 {form} %d".encode()


@NEEDS_CC
def test_what_does_not_fit_is_left_out(platform: ctypes.CDLL) -> None:
    whole = said(platform, 100, "%s=%-8d|%08x", b"value", 42, 0xBEEF)
    assert whole == b"value=42      |0000beef"
    for size in range(len(whole) + 3):
        found = said(platform, size, "%s=%-8d|%08x", b"value", 42, 0xBEEF)
        assert found == whole[: max(size - 1, 0)]
    assert said(platform, 9, "%9999d", 1) == b" " * 8
    assert said(platform, 9, "%99999999999d", 1) != b""


@NEEDS_CC
def test_the_hooks_do_nothing_and_there_is_no_randomness(platform: ctypes.CDLL) -> None:
    buffer = np.full(4, 7, np.uint8)
    assert platform.TVMPlatformBeforeMeasurement() == platform.TVMPlatformAfterMeasurement() == 0
    random = platform.TVMPlatformGenerateRandom
    assert random(buffer.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(4)) == 0x0802
    assert buffer.tolist() == [7] * 4


@NEEDS_ARM_GCC
@pytest.mark.parametrize("optimization", ["-Os", "-O2", "-O3"])
def test_they_need_no_c_library(optimization: str, tmp_path: Path) -> None:
    """Compilers replace loops by calls of strlen; boards have memcpy, memmove and memset only."""
    allowed = {"memcpy", "memmove", "memset", "__aeabi_uldivmod", "mg_io_print"}
    for name in ("page_allocator", "platform/format_message", "platform/logging"):
        made = tmp_path / "x.o"
        command = ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4", optimization, *INCLUDED]
        command += ["-fno-exceptions", "-c", str(CRT / f"src/{name}.c"), "-o", str(made)]
        subprocess.run(command, check=True)
        listed = ["arm-none-eabi-nm", "-u", str(made)]
        out = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
        undefined = {line.split()[-1] for line in out.splitlines()}
        assert undefined <= {*allowed, "TVMPlatformFormatMessage"}
