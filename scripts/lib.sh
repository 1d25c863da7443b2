# Helpers for the scripts in this folder; to be sourced, not run. Sets: root, the package's folder.
# shellcheck shell=bash

# shellcheck disable=SC2034
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n== %s\n' "$*"; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# ---- installing --------------------------------------------------------------------------------------------------

missing_packages=()

# need PACKAGE REASON PROBE...   notes PACKAGE for install_missing unless the command PROBE succeeds.
need() {
    local package=$1 reason=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        missing_packages+=("$package")
        printf 'missing: %-22s %s\n' "$package" "$reason"
    fi
}

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# Installs the packages that `need` noted with apt, as root or with sudo.
install_missing() {
    [ ${#missing_packages[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        die "this system has no apt-get; please install the equivalents of Debian's packages: ${missing_packages[*]}"
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
        die "please run as root: apt-get update && apt-get install ${missing_packages[*]}"
    say "Installing with apt: ${missing_packages[*]}"
    local log
    log=$(mktemp)
    if ! { as_root apt-get -o Acquire::Retries=3 update && as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -o Acquire::Retries=3 install -y --no-install-recommends "${missing_packages[@]}"; } >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "apt failed; its output is above"
    fi
    rm -f "$log"
    missing_packages=()
}

has_file() { compgen -G "$1"; }
has_library() { PATH=$PATH:/sbin ldconfig -p | grep -F "$1"; }

# ---- background processes ----------------------------------------------------------------------------------------

started=()

# start LOG COMMAND...   runs COMMAND in the background; stop_started ends it.
start() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 &
    started+=($!)
}

stop_started() {
    local pid
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
    started=()
}

# Stops everything that the script has started when the script ends, for any reason.
stop_at_exit() {
    trap stop_started EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

# run COMMAND...   runs COMMAND in the foreground, but so that the script reacts to signals immediately.
run() {
    local status=0
    "$@" <&0 &
    started+=($!)
    wait $! || status=$?
    unset 'started[-1]'
    return $status
}

# logged LOG COMMAND...   runs COMMAND in the foreground, and copies its output to LOG.
logged() {
    local log=$1 out copier status=0
    shift
    exec {out}> >(exec tee "$log")
    copier=$!
    run "$@" >&"$out" 2>&1 || status=$?
    exec {out}>&-
    # With a limit, because a process that a crashed program left behind may hold the other end.
    timeout 30 tail --pid="$copier" -f /dev/null || true
    return $status
}

# ---- ports -------------------------------------------------------------------------------------------------------

is_listening() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# Prints a loopback port that nothing listens on, below the range from which the kernel assigns ports.
free_port() {
    local port
    while true; do
        port=$((10000 + RANDOM % 20000))
        if ! is_listening 127.0.0.1 "$port"; then
            echo "$port"
            return
        fi
    done
}

# free_ports COUNT   prints the first of the given number of consecutive free ports.
free_ports() {
    local first offset
    while true; do
        first=$(free_port)
        for ((offset = 1; offset < $1; offset++)); do
            if is_listening 127.0.0.1 $((first + offset)); then continue 2; fi
        done
        echo "$first"
        return
    done
}

# wait_for_port PORT PID LOG   waits until PORT accepts connections; fails if the process ends, or after 30 seconds.
wait_for_port() {
    local port=$1 pid=$2 log=$3 tries
    for ((tries = 0; tries < 300; tries++)); do
        is_listening 127.0.0.1 "$port" && return
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    cat "$log" >&2
    die "nothing listens on port $port; the server's output is above"
}

# wait_for_url http://HOST:PORT   waits until a server that is not the script's accepts connections, at most 30 seconds.
wait_for_url() {
    local authority=${1#*://} tries
    authority=${authority%%/*}
    for ((tries = 0; tries < 300; tries++)); do
        is_listening "${authority%:*}" "${authority##*:}" && return
        sleep 0.1
    done
    die "nothing listens at $1"
}

# ---- the tool ----------------------------------------------------------------------------------------------------

# The package of the tool and its tests. (Two packages can't share a build folder: SwiftPM would take the one's plan for
# the other's.)
# shellcheck disable=SC2034
tool=$root/Tools/netlayer

# build_tool debug|release   builds the tool together with the examples, which saves building the library twice. Sets:
# built, the folder of the programs.
build_tool() {
    swift build --package-path "$root/Examples" -c "$1" --product netlayer
    built=$(swift build --package-path "$root/Examples" -c "$1" --show-bin-path)
}

# start_demo_server debug|release   builds the tool and starts its demo server. Sets: built; server, the server's URL.
start_demo_server() {
    local log tries
    build_tool "$1"
    log=$(mktemp)
    start "$log" "$built/netlayer" serve --port 0
    # The first line of its output is its URL.
    for ((tries = 0; tries < 300; tries++)); do
        server=$(grep -m 1 '^http://' "$log") && break
        kill -0 "${started[-1]}" 2>/dev/null || break
        sleep 0.1
    done
    [ -n "$server" ] || {
        cat "$log" >&2
        die "the demo server does not start; its output is above"
    }
    rm -f "$log"
}
