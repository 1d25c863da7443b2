#!/usr/bin/env python3
"""Runs the scenarios and writes the reports: see scripts/bench."""
import argparse
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import costs
import report
from scenarios import CONTENDERS, DESCRIPTIONS, SCENARIOS, VARIANTS
from servers import Servers

PACKAGE = Path(__file__).resolve().parent.parent
# Where scripts/bench puts the programs that it compiles from C.
BUILT_C = PACKAGE.parent / ".build-bench"


def main():
    options = read_options()
    raise_descriptor_limit()
    cores = sorted(os.sched_getaffinity(0))
    server_core = cores[0] if len(cores) > 1 else None
    client_cores = cores[1:] if len(cores) > 1 else cores
    programs = find_programs(options)
    results = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(client_cores, server_core),
        "versions": versions(programs),
        "contenders": {name: DESCRIPTIONS[name] for name in programs},
        "rounds": options.rounds,
        "quick": options.quick,
        "sizes": {name: size(path) for name, path in programs.items()},
        "scenarios": [],
    }
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Servers(folder, server_core) as servers:
        runner = Runner(programs, servers, client_cores, options)
        for scenario in options.scenarios:
            results["scenarios"].append(runner.run(scenario))
        if options.costs:
            results["costs"] = costs.measure(
                programs, servers, options.costs_requests, BUILT_C / "count-allocations.so"
            )
            report.print_costs(results["costs"])
    results["took_seconds"] = round(time.monotonic() - began)
    if options.output:
        output = Path(options.output)
        output.mkdir(parents=True, exist_ok=True)
        (output / "results.json").write_text(compact(results))
        (output / "index.html").write_text(report.page(results))
        (output / "results.md").write_text(report.markdown(results))
        print(f"\nwritten: {output}/results.json, results.md, index.html")
    print(f"{results['took_seconds']} s, {runner.failures} failed runs")
    return 1 if runner.failures else 0


def compact(results):
    """Returns the results as JSON: a line for each scenario and for each other key, figures with six digits."""

    def rounded(value):
        if isinstance(value, float):
            return float(f"{value:.6g}")
        if isinstance(value, dict):
            return {key: rounded(part) for key, part in value.items()}
        return [rounded(part) for part in value] if isinstance(value, list) else value

    def line(value):
        return json.dumps(rounded(value), separators=(",", ":"))

    scenarios = ",\n".join(line(scenario) for scenario in results["scenarios"])
    others = [f"{json.dumps(key)}:{line(value)}" for key, value in results.items() if key != "scenarios"]
    return "{\n" + ",\n".join(others + [f'"scenarios":[\n{scenarios}\n]']) + "\n}\n"


def read_options():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Compares this library with libcurl and other clients.")
    parser.add_argument("--quick", action="store_true", help="one round of few requests: only shows that all runs")
    parser.add_argument("--rounds", type=int, help="rounds of A B C, A B C, ... (7; 1 with --quick)")
    parser.add_argument("--scenario", action="append", default=[], help="only this one, or a pattern such as 'small*'; may be repeated")
    parser.add_argument("--contender", action="append", default=[], help="only this one and the control; may be repeated")
    parser.add_argument("--output", help="folder for results.json, results.md and index.html")
    parser.add_argument("--no-costs", dest="costs", action="store_false", help="skip instructions, allocations and system calls")
    parser.add_argument("--only-costs", action="store_true", help="only count these")
    parser.add_argument("--costs-requests", type=int, help="the number of requests for counting")
    parser.add_argument("--scale", type=float, default=1, help="a factor for the number of requests")
    parser.add_argument("--list", action="store_true", help="list the scenarios and contenders")
    parser.add_argument("--control-program", help="another control, with the same command line and output")
    options = parser.parse_args()
    if options.list:
        for scenario in SCENARIOS:
            print(f"{scenario.name:14} {scenario.title}: {' '.join(scenario.contenders)}")
        raise SystemExit
    # Counting takes a minute under valgrind, too long for a quick run.
    options.costs = options.costs and (options.only_costs or not options.quick)
    options.rounds = options.rounds or (1 if options.quick else 7)
    options.costs_requests = options.costs_requests or (200 if options.quick else 2_000)
    patterns = [re.compile(re.escape(word).replace(r"\*", ".*") + "$") for word in options.scenario]
    options.scenarios = [s for s in SCENARIOS if not patterns or any(p.match(s.name) for p in patterns)]
    if options.only_costs:
        options.scenarios = []
    elif not options.scenarios:
        parser.error(f"no such scenario; there are {' '.join(s.name for s in SCENARIOS)}")
    return options


def raise_descriptor_limit():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))


def find_programs(options):
    wanted = [name for name in CONTENDERS if not options.contender or name == "control" or name in options.contender]
    programs = {}
    for name in wanted:
        folders = {"control": BUILT_C, "ahc": PACKAGE / "AsyncHTTPClient/.build/release"}
        program = VARIANTS.get(name, (name, ""))[0]
        path = folders.get(program, PACKAGE / ".build/release") / program
        if path.exists():
            programs[name] = path
        elif name != "ahc" or "ahc" in options.contender:
            raise SystemExit(f"{name} is not built: {path}")
        else:
            print("AsyncHTTPClient is not built and is skipped")
    if options.control_program:
        programs["control"] = Path(options.control_program)
    return programs


class Runner:
    def __init__(self, programs, servers, cores, options):
        self.programs = programs
        self.servers = servers
        self.cores = cores
        self.options = options
        self.failures = 0

    def run(self, scenario):
        names = [name for name in scenario.contenders if name in self.programs]
        runs = {name: [] for name in names}
        for number in range(self.options.rounds):
            # Each round starts with a different contender, so that none always runs after the same one.
            shift = number % len(names)
            for name in names[shift:] + names[:shift]:
                if runs[name] is None:
                    continue
                run = self.once(scenario, name)
                if run.get("unsupported"):
                    runs[name] = None
                else:
                    runs[name].append(run)
        rows = {name: summary(of) for name, of in runs.items() if of}
        if "control" in rows:
            for name, row in rows.items():
                row["ratio"] = ratios(runs[name], runs["control"])
        result = {
            "name": scenario.name,
            "title": scenario.title,
            "mode": scenario.mode,
            "goals": {name: goal for name, goal in scenario.goals.items() if name in rows},
            "unsupported": [name for name, of in runs.items() if of is None],
            "rows": rows,
            "runs": {name: of for name, of in runs.items() if of},
        }
        report.print_scenario(result)
        return result

    def once(self, scenario, name):
        words = scenario.arguments(self.servers, name, self.options.quick)
        words[2] = str(max(1, round(int(words[2]) * (self.options.scale if scenario.mode != "idle" else 1))))
        command = [str(self.programs[name]), *words]
        if hasattr(os, "sched_setaffinity"):
            affinity = lambda: os.sched_setaffinity(0, self.cores)
        else:
            affinity = None
        accepted = self.servers.accepted()
        began = time.monotonic()
        try:
            process = subprocess.run(
                command, capture_output=True, text=True, timeout=300, preexec_fn=affinity
            )
            took = time.monotonic() - began
            run = json.loads(process.stdout)
        except subprocess.TimeoutExpired:
            return self.failed(scenario, name, "not finished within 300 seconds")
        except json.JSONDecodeError:
            return self.failed(scenario, name, f"status {process.returncode}, no result\n{process.stderr[-2000:]}")
        finally:
            self.servers.forget_polls()
        if run.get("unsupported"):
            return run
        run["process_seconds"] = took
        run["connections"] = self.servers.accepted() - accepted
        if run["errors"] or process.returncode:
            self.failures += 1
            print(f"{scenario.name}, {name}: {run['errors']} errors\n{process.stderr[-2000:]}", file=sys.stderr)
        run["cpu_us"] = (run["user"] + run["system"]) / run["requests"] * 1e6
        run["user_us"] = run["user"] / run["requests"] * 1e6
        run["rate"] = run["requests"] / run["seconds"]
        if scenario.mode == "idle":
            run["kb_per_connection"] = run["grown_kb"] / max(1, run["sockets"])
        if scenario.name == "start":
            run["start_ms"] = took * 1e3
        return run

    def failed(self, scenario, name, why):
        self.failures += 1
        print(f"{scenario.name}, {name}: {why}", file=sys.stderr)
        return {"unsupported": True}


FIGURES = [
    "rate", "cpu_us", "user_us", "p50_us", "p99_us", "peak_kb", "connections", "sockets", "errors", "kb_per_connection",
    "start_ms", "requests",
]


def summary(runs):
    row = {key: statistics.median(run[key] for run in runs) for key in FIGURES if key in runs[0]}
    row["errors"] = sum(run["errors"] for run in runs)
    for key in "cpu_us", "rate":
        values = sorted(run[key] for run in runs)
        row[key + "_spread"] = (values[-1] - values[0]) / row[key] if row[key] else 0
    return row


def ratios(runs, controls):
    """Returns medians of the ratios in each round, because a machine that is slow for a minute slows down both."""

    def ratio(key):
        each = [run[key] / control[key] for run, control in zip(runs, controls) if key in run and control.get(key)]
        return statistics.median(each) if each else None

    return {"cpu": ratio("cpu_us"), "rate": ratio("rate"), "memory": ratio("kb_per_connection"), "p50": ratio("p50_us"),
            "p99": ratio("p99_us"), "peak": ratio("peak_kb"), "start": ratio("start_ms")}


def size(path):
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, path], check=True)
        return {"bytes": Path(path).stat().st_size, "stripped": Path(stripped.name).stat().st_size}


def machine(client_cores, server_core):
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*: (.*)", info)
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    return {
        "processor": model.group(1) if model else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory.group(1)) / (1 << 20), 1) if memory else None,
        "kernel": platform.release(),
        "server_core": server_core,
        "client_cores": client_cores,
        "load_at_start": os.getloadavg()[0],
    }


def versions(programs):
    def first_line(*command):
        try:
            done = subprocess.run(command, capture_output=True, text=True)
            return (done.stdout + done.stderr).strip().splitlines()[0]
        except (OSError, IndexError):
            return None

    found = {
        "libcurl": first_line("curl-config", "--version"),
        "swift": first_line("swift", "--version"),
        "nginx": first_line("nginx", "-v"),
        "commit": first_line("git", "-C", str(PACKAGE), "describe", "--always", "--dirty"),
    }
    resolved = PACKAGE / "AsyncHTTPClient" / "Package.resolved"
    if "ahc" in programs and resolved.exists():
        pins = {pin["identity"]: pin["state"].get("version") for pin in json.loads(resolved.read_text())["pins"]}
        found["async-http-client"] = pins.get("async-http-client")
        found["swift-nio"] = pins.get("swift-nio")
    return {name: value for name, value in found.items() if value}


if __name__ == "__main__":
    sys.exit(main())
