"""Formats the results as a table for the terminal, as Markdown and as a self-contained HTML page."""
from html import escape


def print_scenario(scenario):
    print(f"\n{scenario['name']}: {scenario['title']}")
    rows = [columns(scenario, name, row) for name, row in scenario["rows"].items()]
    head = header(scenario)
    widths = [max(len(line[index]) for line in [head, *rows]) for index in range(len(head))]
    for line in [head, *rows]:
        print("  " + "  ".join(text.ljust(width) if index == 0 else text.rjust(width)
                               for index, (text, width) in enumerate(zip(line, widths))))
    if scenario["unsupported"]:
        print(f"  can't: {', '.join(scenario['unsupported'])}")
    for line in goal_lines(scenario):
        print("  " + line)


def header(scenario):
    head = ["", "1/s", "±", "×", "CPU µs", "±", "×", "p50 µs", "p99 µs", "peak MiB", "connections", "errors"]
    if scenario["mode"] == "idle":
        head += ["KB each", "×"]
    if scenario["name"] == "start":
        head += ["ms", "×"]
    return head


def columns(scenario, name, row):
    ratio = row.get("ratio", {})
    line = [
        name, number(row["rate"]), percent(row["rate_spread"]), times(ratio.get("rate")),
        number(row["cpu_us"]), percent(row["cpu_us_spread"]), times(ratio.get("cpu")),
        number(row["p50_us"]), number(row["p99_us"]), number(row["peak_kb"] / 1024),
        f"{row['connections']:.0f}", str(row["errors"]),
    ]
    if scenario["mode"] == "idle":
        line += [number(row["kb_per_connection"]), times(ratio.get("memory"))]
    if scenario["name"] == "start":
        line += [number(row["start_ms"]), times(ratio.get("start"))]
    return line


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def percent(share):
    return f"{share * 100:.0f}%"


def times(ratio):
    return "" if ratio is None else f"{ratio:.2f}"


def goal_lines(scenario):
    for name, (most_cpu, least_rate) in scenario["goals"].items():
        ratio = scenario["rows"][name].get("ratio", {})
        cpu = ratio.get("memory") if scenario["mode"] == "idle" else ratio.get("cpu")
        parts = []
        if most_cpu is not None and cpu is not None:
            what = "memory" if scenario["mode"] == "idle" else "CPU"
            parts.append(f"{what} {cpu:.2f} ≤ {most_cpu}: {'reached' if cpu <= most_cpu else 'MISSED'}")
        if least_rate is not None and ratio.get("rate") is not None:
            parts.append(f"throughput {ratio['rate']:.2f} ≥ {least_rate}: {'reached' if ratio['rate'] >= least_rate else 'MISSED'}")
        yield f"goal, {name}: {'; '.join(parts)}"


def print_costs(costs):
    print("\nper small GET, counted")
    for name, by_flight in costs.items():
        for in_flight, row in by_flight.items():
            calls = row.get("system_calls", {})
            named = " ".join(f"{call} {count:g}" for call, count in calls.items())
            print(f"  {name:10} {in_flight:>3} in flight: {row.get('instructions', 0):,.0f} instructions"
                  f"{against(costs, in_flight, row, 'instructions')}, {row.get('allocations', 0):.1f} allocations, "
                  f"{sum(calls.values()):.2f} system calls ({named})")


def against(costs, in_flight, row, key):
    control = costs.get("control", {}).get(in_flight, {}).get(key)
    return f" ({row[key] / control:.2f} ×)" if control and key in row else ""


# ---- Markdown ----------------------------------------------------------------------------------------------------

def markdown(results):
    lines = ["# Results", ""]
    lines += [f"{name}: {value}  " for name, value in facts(results)]
    lines += ["", f"Medians of {results['rounds']} interleaved rounds; × is the ratio to the control, the median of those in each round; "
              "± is the whole spread over the rounds."]
    for scenario in results["scenarios"]:
        lines += ["", f"## {scenario['title']}", "", table_line(header(scenario)), "| --- |" + " --: |" * (len(header(scenario)) - 1)]
        lines += [table_line(columns(scenario, name, row)) for name, row in scenario["rows"].items()]
        if scenario["unsupported"]:
            lines += ["", f"Can't: {', '.join(scenario['unsupported'])}."]
        lines += [""] + [f"{line}  " for line in goal_lines(scenario)]
    if "costs" in results:
        lines += ["", "## Counted, per small GET", "",
                  "| | in flight | instructions | × | allocations | × | system calls | which |", "| --- | --: | --: | --: | --: | --: | --: | --- |"]
        for name, by_flight in results["costs"].items():
            for in_flight, row in by_flight.items():
                calls = row.get("system_calls", {})
                control = results["costs"].get("control", {}).get(in_flight, {})
                lines.append(table_line([
                    name, in_flight, f"{row.get('instructions', 0):,.0f}", quotient(row, control, "instructions"),
                    f"{row.get('allocations', 0):.1f}", quotient(row, control, "allocations"), f"{sum(calls.values()):.2f}",
                    " ".join(f"{call} {count:g}" for call, count in calls.items()),
                ]))
    lines += ["", "## Size of the programs", "", "| | MB | stripped |", "| --- | --: | --: |"]
    lines += [table_line([name, f"{of['bytes'] / 1e6:.1f}", f"{of['stripped'] / 1e6:.1f}"]) for name, of in results["sizes"].items()]
    return "\n".join(lines) + "\n"


def quotient(row, control, key):
    return times(row[key] / control[key]) if row.get(key) and control.get(key) else ""


def table_line(words):
    return "| " + " | ".join(str(word) for word in words) + " |"


def facts(results):
    machine = results["machine"]
    yield "When", f"{results['when']}, {results.get('took_seconds', 0)} s"
    yield "Machine", (f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, Linux {machine['kernel']}; "
                      f"server on core {machine['server_core']}, clients on {machine['client_cores']}; "
                      f"load before the start {machine['load_at_start']:.1f}")
    yield "Versions", ", ".join(f"{name} {value}" for name, value in results["versions"].items())


# ---- HTML --------------------------------------------------------------------------------------------------------

COLOURS = {
    "control": "#555", "send": "#0a6", "on-loop": "#084", "pipeline": "#3b8", "typed": "#7c4", "layer-urlsession": "#c80",
    "raw-urlsession": "#a50", "ahc": "#36c",
}

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; }
h2 { margin-top: 2.2em; font-size: 1.15em; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .2em .6em; text-align: right; border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
svg { display: block; margin: .6em 0; } svg text { font: 12px system-ui, sans-serif; fill: #222; }
.reached { color: #084; } .missed { color: #b00; font-weight: 600; }
"""


def page(results):
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>NetworkLayer: benchmark</title>", f"<style>{STYLE}</style>",
             "<h1>NetworkLayer: benchmark</h1>"]
    parts += [f"<p><b>{escape(name)}</b>: {escape(value)}</p>" for name, value in facts(results)]
    parts.append(f"<p>Medians of {results['rounds']} interleaved rounds. × is the ratio to the control, the median of those in each round; "
                 "± is the whole spread over the rounds; the thin lines in the plots show that spread, each dot one round.</p><ul>")
    parts += [f"<li><b>{escape(name)}</b>: {escape(text)}</li>" for name, text in results["contenders"].items()]
    parts.append("</ul>")
    for scenario in results["scenarios"]:
        parts.append(f"<h2>{escape(scenario['title'])}</h2>")
        for key, title in plots(scenario):
            parts.append(bars(scenario, key, title))
        parts.append(html_table(header(scenario), [columns(scenario, name, row) for name, row in scenario["rows"].items()]))
        if scenario["unsupported"]:
            parts.append(f"<p>Can't: {escape(', '.join(scenario['unsupported']))}.</p>")
        for line in goal_lines(scenario):
            parts.append(f"<p class={'missed' if 'MISSED' in line else 'reached'}>{escape(line)}</p>")
    if "costs" in results:
        parts.append("<h2>Counted, per small GET</h2>" + html_costs(results["costs"]))
    parts.append("<h2>Size of the programs, statically linked to Swift's libraries</h2>")
    parts.append(html_table(["", "MB", "stripped"], [
        [name, f"{of['bytes'] / 1e6:.1f}", f"{of['stripped'] / 1e6:.1f}"] for name, of in results["sizes"].items()]))
    return "\n".join(parts) + "\n"


def plots(scenario):
    if scenario["mode"] == "idle":
        return [("kb_per_connection", "KB per connection")]
    if scenario["name"] == "start":
        return [("start_ms", "ms from start to end of the process")]
    return [("cpu_us", "CPU per request, µs"), ("rate", "requests per second")]


def bars(scenario, key, title):
    rows = scenario["rows"]
    most = max([run[key] for runs in scenario["runs"].values() for run in runs if key in run] + [1e-9])
    left, width, height = 130, 520, 20
    scale = width / most
    parts = [f'<svg width="{left + width + 110}" height="{len(rows) * height + 22}" role="img" aria-label="{escape(title)}">',
             f'<text x="{left}" y="12" font-weight="600">{escape(title)}</text>']
    for index, (name, row) in enumerate(rows.items()):
        top = 20 + index * height
        values = [run[key] for run in scenario["runs"][name] if key in run]
        middle = top + height / 2 - 2
        parts.append(f'<text x="{left - 8}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="{left}" y="{top}" width="{max(1, row[key] * scale):.1f}" height="{height - 5}" '
                     f'fill="{COLOURS.get(name, "#888")}" fill-opacity=".75"/>')
        parts.append(f'<line x1="{left + min(values) * scale:.1f}" x2="{left + max(values) * scale:.1f}" y1="{middle}" y2="{middle}" stroke="#000"/>')
        parts += [f'<circle cx="{left + value * scale:.1f}" cy="{middle}" r="2"/>' for value in values]
        parts.append(f'<text x="{left + max(max(values), row[key]) * scale + 8:.1f}" y="{middle + 4}">{number(row[key])}</text>')
    return "".join(parts) + "</svg>"


def html_table(head, rows):
    def line(words, tag):
        return "<tr>" + "".join(f"<{tag}>{escape(str(word))}</{tag}>" for word in words) + "</tr>"

    return "<table>" + line(head, "th") + "".join(line(row, "td") for row in rows) + "</table>"


def html_costs(costs):
    rows = []
    for name, by_flight in costs.items():
        for in_flight, row in by_flight.items():
            calls = row.get("system_calls", {})
            control = costs.get("control", {}).get(in_flight, {})
            rows.append([
                name, in_flight, f"{row.get('instructions', 0):,.0f}", quotient(row, control, "instructions"),
                f"{row.get('allocations', 0):.1f}", quotient(row, control, "allocations"), f"{sum(calls.values()):.2f}",
                " ".join(f"{call} {count:g}" for call, count in calls.items()),
            ])
    return html_table(["", "in flight", "instructions", "×", "allocations", "×", "system calls", "which"], rows)
