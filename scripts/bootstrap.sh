#!/usr/bin/env bash
# Installs only missing packages: tools with apt-get, Python packages into .venv. If nothing is missing,
# it prints nothing and needs no network. Exit code 2: it has printed the command to type.
set -eu
cd "$(dirname "$0")/.."

say() { echo "bootstrap: $*" >&2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

have() { command -v "$1" >/dev/null 2>&1; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.11 python3.12 python3.13 python3.14}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

# Sets the packages to install: those of microgen/building/tools.py whose programs do not work when used, in
# $missing those without which nothing can be built and run, in $extras the others.
look() {
    local found
    found=$("$python" -I microgen/building/tools.py)
    missing=$(sed -n 's/^required //p' <<<"$found" | xargs)
    extras=$(sed -n 's/^extra //p' <<<"$found" | xargs)
    [ -x .venv/bin/python ] || "$python" -c 'import ensurepip' >/dev/null 2>&1 ||
        missing="${missing:+$missing }python3-venv"
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

# The stamp says what was installed and where, so it changes with pyproject.toml and the checkout's path.
stamp() { pwd && cat pyproject.toml; }

python_is_ready() { .venv/bin/python -c '' 2>/dev/null && stamp | cmp -s - .venv/installed; }

# Some packages are known only after others are installed: the name of clang's compiler-rt has clang's version.
install_missing() {
    local before
    while [ "$missing$extras" != "${before-}" ] && [ -n "$missing$extras" ]; do
        before=$missing$extras
        # shellcheck disable=SC2086 # one word per package
        install_packages $missing $extras
        look
    done
}

bootstrap_tools() {
    look
    # Extras that could not be installed the last time are not tried for again.
    if [ -n "$missing" ] || [ "$extras" != "$(cat .venv/missing_extras 2>/dev/null)" ]; then
        install_missing
    fi
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
echo "$extras" >.venv/missing_extras
