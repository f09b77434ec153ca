#!/usr/bin/env bash
# Install what is missing and nothing else: tools with apt-get, Python packages into .venv.
# Says nothing and needs no network when all is there. Exit 2: the line to type is printed.
set -eu
cd "$(dirname "$0")/.."

say() { echo "bootstrap: $*" >&2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

have() { command -v "$1" >/dev/null 2>&1; }

# A compiler without its C library's headers and archives is found only by using it.
links() {
    printf '#include <string.h>\nint main(int c, char **v) { return (int)strlen(v[0]) + c; }\n' |
        "$@" -x c - -o "$scratch/linked" >/dev/null 2>&1
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.11 python3.12 python3.13 python3.14}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

# Packages whose tools are missing, without which nothing can be built and run.
missing_packages() {
    have cmake || echo cmake
    have ninja || echo ninja-build
    links cc || echo gcc libc6-dev
    have arm-none-eabi-gcc || echo gcc-arm-none-eabi
    links arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb --specs=nosys.specs || echo libnewlib-arm-none-eabi
    have qemu-system-arm || echo qemu-system-arm
    [ -x .venv/bin/python ] || "$python" -c 'import ensurepip' >/dev/null 2>&1 || echo python3-venv
}

# Only `run --compare` on the host, RISC-V boards, and `generate --toolchain llvm` and `--emit` want
# these.
missing_extras() {
    have gdbserver || echo gdbserver
    have riscv64-unknown-elf-gcc || echo gcc-riscv64-unknown-elf
    have qemu-system-riscv32 || echo qemu-system-misc
    have clang || echo clang
    have ld.lld || echo lld
}

apt_get() {
    if [ "$(id -u)" = 0 ]; then
        DEBIAN_FRONTEND=noninteractive apt-get "$@"
    else
        sudo DEBIAN_FRONTEND=noninteractive apt-get "$@"
    fi
}

install_packages() {
    have apt-get || return 0
    [ "$(id -u)" = 0 ] || have sudo || return 0
    say "installing" "$@" "(a few minutes)"
    if ! { apt_get -q update && apt_get -q install -y --no-install-recommends "$@"; } \
        >"$scratch/apt.log" 2>&1 </dev/null; then
        tail -n 5 "$scratch/apt.log" >&2
    fi
}

# The stamp is what was installed and where: a changed pyproject.toml or a moved checkout differs.
stamp() { pwd && cat pyproject.toml; }

python_is_ready() { .venv/bin/python -c '' 2>/dev/null && stamp | cmp -s - .venv/installed; }

bootstrap_tools() {
    local missing extras
    missing=$(missing_packages | xargs)
    extras=$(missing_extras | xargs)
    [ -n "$missing$extras" ] || return 0
    # Extras that could not be installed the first time are not tried for again.
    if [ -n "$missing" ] || ! python_is_ready; then
        # shellcheck disable=SC2086 # one word per package
        install_packages $missing $extras
    fi
    missing=$(missing_packages | xargs)
    extras=$(missing_extras | xargs)
    if [ -n "$missing" ]; then
        say "these are missing; as root, on Debian or Ubuntu, type:"
        say "  apt-get update && apt-get install -y $missing${extras:+ $extras}"
        exit 2
    fi
    if [ -n "$extras" ]; then
        say "going on without: $extras (apt-get install -y $extras)"
    fi
}

bootstrap_python() {
    if python_is_ready; then return; fi
    say "installing Python packages into .venv (a minute)"
    "$python" -m venv --clear .venv
    if ! .venv/bin/python -m pip install -qq --disable-pip-version-check \
        -e '.[oracle,dev,examples]' </dev/null; then
        say "pip failed; with a network, type: make bootstrap"
        exit 2
    fi
    stamp >.venv/installed
}

python=$(find_python)
if [ -z "$python" ]; then
    say "Python 3.11 or newer is missing; type: apt-get install -y python3, or PYTHON=... make"
    exit 2
fi
bootstrap_tools
bootstrap_python
