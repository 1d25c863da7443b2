"""Counts what a machine's noise does not affect: instructions, allocations and system calls of one small GET.

Each figure is the difference of two counts, over N requests and over 2N, so that start and end of the process cancel
out. Requests are sent one by one and 64 at a time: the first shows the whole price of a wake-up, the second the price
when requests share wake-ups.
"""
import os
import re
import shutil
import subprocess
import tempfile

from scenarios import STEPS, VARIANTS

COUNTED = ["control", "same-request", "send", "on-loop", "pipeline", *STEPS]
IN_FLIGHT = [1, 64]


def measure(programs, servers, requests, preload):
    rows = {}
    for name in COUNTED:
        if name not in programs:
            continue
        for in_flight in IN_FLIGHT:
            row = {}
            for what, count in ("instructions", instructions), ("allocations", allocations), ("system_calls", system_calls):
                program = [str(programs[name]), "get", str(in_flight)]
                url = f"http://127.0.0.1:{servers.plain}/small.json"
                words = [url, VARIANTS[name][1]] if name in VARIANTS else [url]
                first, second = (count([*program, str(n), *words], preload) for n in (requests, 2 * requests))
                if first is not None and second is not None:
                    row[what] = difference(first, second, requests)
            rows.setdefault(name, {})[str(in_flight)] = row
    return rows


def difference(first, second, requests):
    if isinstance(first, dict):
        each = {key: round((second[key] - first.get(key, 0)) / requests, 2) for key in second}
        return {key: value for key, value in sorted(each.items(), key=lambda item: -item[1]) if value >= 0.01}
    return round((second - first) / requests, 2)


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def instructions(command, _):
    """Counts user-space instructions, with valgrind."""
    if not shutil.which("valgrind"):
        return None
    done = run(["valgrind", "--fair-sched=yes", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *command])
    return int(re.search(r"I +refs: +([\d,]+)", done.stderr).group(1).replace(",", ""))


def allocations(command, preload):
    """Counts calls of malloc and similar functions, with a library between the program and the C library."""
    done = run(command, env=dict(os.environ, LD_PRELOAD=str(preload)))
    return int(re.search(r"allocations: (\d+)", done.stderr).group(1))


def system_calls(command, _):
    """Counts the system calls of all threads by name."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r") as output:
        run(["strace", "-f", "-c", "-o", output.name, *command])
        counts = {}
        for line in output.read().splitlines():
            words = line.split()
            if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
                counts[words[-1]] = int(words[3])
        return counts
