#!/usr/bin/env bash
# Runs COMMAND in a fresh clone of this checkout inside a bare Debian (or Ubuntu): the minimal
# system, make, git and Python, and nothing else. COMMAND has to install everything else that it needs.
#
#   scripts/bare_machine.sh [COMMAND]     a line for bash (default: make demo && make test)
#
# Needs root and mmdebstrap. The clone has only committed files. The models that tests use
# ($MICROGEN_MODELS, or ../shared/models) are copied next to it, with the data that tests compare them with.
# This machine's settings for packages are copied: apt's sources and settings, pip's settings, proxies,
# certificates.
#
# The exit code is COMMAND's, or 125 if it could not be started. Nothing remains on the machine, not even
# when interrupted: all happens in mount and process namespaces that end with this script.
set -eu

home_inside=/root
default_command='make demo && make test'
# The first process inside dies with this script, and everything else inside with that process.
namespaces=(setpriv --pdeathsig KILL unshare --mount --mount-proc --pid --fork --kill-child)

say() { echo "bare_machine: $*" >&2; }

cannot() {
    say "$*"
    exit 125
}

check_arguments() {
    case "${1-}" in
        -h | --help)
            sed -n '/^set -eu/q;2,$s/^# \{0,1\}//p' "$0"
            exit
            ;;
        -*) cannot "there is no option $1; usage: scripts/bare_machine.sh [COMMAND]" ;;
    esac
    [ $# -le 1 ] || cannot "$# arguments; quote the command: scripts/bare_machine.sh 'make demo'"
}

check_machine() {
    [ "$(id -u)" = 0 ] || cannot "only root may do this; type: sudo $0"
    command -v mmdebstrap >/dev/null 2>&1 ||
        cannot "mmdebstrap is missing; type: apt-get install -y mmdebstrap"
    "${namespaces[@]}" true 2>/dev/null || cannot "nothing can be mounted here (in a container?)"
}

outside() {
    folder=$(mktemp -d -p "${TMPDIR:-/var/tmp}" bare_machine.XXXXXX)
    machine=''
    trap clean_up EXIT
    # apt works as a user of its own. Temporary files of killed processes are removed with the folder.
    chmod 711 "$folder"
    mkdir -m 1777 "$folder/tmp"
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    # In the background, so that signals are obeyed at once; bash has such processes ignore some.
    "${namespaces[@]}" env --default-signal TMPDIR="$folder/tmp" \
        bash "$script" --inside "$folder" "$1" </dev/null &
    machine=$!
    wait "$machine"
}

clean_up() {
    local status=$?
    trap '' HUP INT TERM
    if [ -n "$machine" ]; then
        kill -KILL "$machine" 2>/dev/null || true
        wait "$machine" 2>/dev/null || true
    fi
    # The mounts are not visible outside. Killed processes may take a moment to end.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rm -rf --one-file-system "$folder" 2>/dev/null && exit "$status"
        sleep 1
    done
    say "cannot remove $folder"
    exit "$status"
}

inside() {
    folder=$1 root=$1/root
    set -E
    trap 'exit 125' ERR
    . /etc/os-release
    say "making a bare ${ID-} ${VERSION_CODENAME-} (a minute)"
    make_system "$VERSION_CODENAME"
    copy_settings
    copy_project
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    list_environment
    say "in a bare ${ID-} ${VERSION_CODENAME-}: $2"
    exec chroot "$root" /usr/bin/env -i -C /src/project "${environment[@]}" bash -c "$2"
}

make_system() {
    local file
    sources=()
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
        /etc/apt/sources.list.d/*.sources; do
        [ ! -s "$file" ] || sources+=("$file")
    done
    apt-config dump | sed -n '/^Acquire::IndexTargets/d;/^Acquire::/p' >"$folder/apt.conf"
    mmdebstrap --quiet --mode=root --variant=minbase --aptopt="$folder/apt.conf" \
        --include=ca-certificates,make,git,python3,python3-venv "$1" "$root" "${sources[@]}"
}

# Copies a file or a folder, if it exists, to the same path or another one. Links are followed.
copy() {
    [ -e "$1" ] || return 0
    mkdir -p "$(dirname "$root${2:-$1}")"
    cp -rLT "$1" "$root${2:-$1}" 2>/dev/null || true # of folders what can be read
}

copy_settings() {
    local file home=${HOME:-/root}
    for file in /etc/resolv.conf /etc/hosts /etc/apt/trusted.gpg.d /etc/ssl/certs \
        /usr/local/share/ca-certificates "${SSL_CERT_DIR:-/etc/ssl/certs}" \
        /etc/pip.conf /etc/xdg/pip/pip.conf; do
        copy "$file"
    done
    copy "${VIRTUAL_ENV-}/pip.conf" "$home_inside/.pip/pip.conf"
    copy "$home/.pip/pip.conf" "$home_inside/.pip/pip.conf"
    copy "${XDG_CONFIG_HOME:-$home/.config}/pip/pip.conf" "$home_inside/.config/pip/pip.conf"
    list_environment
    settings | tr -s '][ \t"=,;' '\n' | sed -n '/^\//p' | sort -u | while read -r file; do
        [ ! -f "$file" ] || copy "$file"
    done
}

# Settings that may name certificates, keys of package sources or further settings.
settings() {
    printf '%s\n' "${environment[@]}"
    cat "$folder/apt.conf" "${sources[@]}"
    cat "$root/etc/pip.conf" "$root/etc/xdg/pip/pip.conf" "$root$home_inside/.pip/pip.conf" \
        "$root$home_inside/.config/pip/pip.conf" 2>/dev/null || true
}

list_environment() {
    local name
    environment=("HOME=$home_inside" LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    for name in $(compgen -e); do
        case $name in
            CI | PIP_* | *_proxy | *_PROXY | SSL_CERT_FILE | SSL_CERT_DIR | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE)
                environment+=("$name=${!name}")
                ;;
        esac
    done
}

copy_project() {
    # git refuses to read files of another user, and a checkout in a container may have one.
    printf '[safe]\n\tdirectory = *\n' >"$folder/gitconfig"
    GIT_CONFIG_GLOBAL=$folder/gitconfig git clone -q --no-hardlinks "$checkout" "$root/src/project"
    local models=${MICROGEN_MODELS:-$checkout/../shared/models}
    copy "$models" /src/shared/models
    copy "$models/../reference/tflm_golden.npz" /src/shared/reference/tflm_golden.npz
}

script=$(realpath "$0")
checkout=$(dirname "$(dirname "$script")")
if [ "${1-}" = --inside ]; then
    inside "$2" "$3"
fi
check_arguments "$@"
check_machine
outside "${1:-$default_command}"
