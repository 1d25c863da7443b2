"""Draws the goodput and the latency of a trial over time, as SVG for light and dark pages."""

WIDTH, LEFT, RIGHT, PANEL, GAP = 640, 62, 12, 130, 44
COLORS = {"plain": "#888888", "retries": "#d1495b", "standard": "#2a7f9e", "hedged": "#3a9d5d"}
NAMES = {
    "plain": "total timeout alone",
    "retries": "retries by hand, no budget",
    "standard": ".resilient()",
    "hedged": ".resilient(), hedged at p95",
}


def percentile(values, share):
    values = sorted(values)
    return values[max(0, -(-len(values) * share // 100) - 1)]


def series(found, seconds, value):
    """Returns a value for each half second."""
    parts = [[] for _ in range(seconds * 2)]
    for due, time, outcome in found:
        parts[min(len(parts) - 1, int(due * 2))].append((time, outcome))
    return [(index / 2 + 0.25, value(part)) for index, part in enumerate(parts) if part]


def panel(top, title, lines, seconds, limit, marks, shown, window):
    """Draws one panel: a frame, its marks and a line for each arm."""
    inner = WIDTH - LEFT - RIGHT

    def x(time):
        return LEFT + inner * time / seconds

    def y(value):
        return top + PANEL * (1 - min(value, limit) / limit)

    parts = [f'<text x="{LEFT}" y="{top - 8}" class="title">{title}</text>']
    if window:
        begin, end = window
        parts.append(f'<rect x="{x(begin):.1f}" y="{top}" width="{x(end) - x(begin):.1f}" height="{PANEL}" class="trouble"/>')
    for mark in marks:
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(mark) + 4:.1f}" class="mark">{shown(mark)}</text>')
    for time in range(0, seconds + 1, 5):
        parts.append(f'<text x="{x(time):.1f}" y="{top + PANEL + 15}" class="time">{time} s</text>')
    for arm, points in lines.items():
        text = " ".join(f"{x(time):.1f},{y(value):.1f}" for time, value in points)
        parts.append(f'<polyline points="{text}" stroke="{COLORS[arm]}" class="line"/>')
    return parts


def drawing(title, results, rate, seconds, window):
    """Returns the plot of a scenario.

    results has the outcomes of each arm: (due in seconds, milliseconds, outcome).
    """
    good = {
        arm: series(found, seconds, lambda part: 2 * sum(outcome == "ok" for _, outcome in part))
        for arm, found in results.items()
    }
    late = {
        arm: series(found, seconds, lambda part: percentile([time for time, _ in part], 99))
        for arm, found in results.items()
    }
    most = max(value for points in late.values() for _, value in points)
    limit = next(limit for limit in (100, 200, 500, 1000, 2500, 10**9) if most <= limit)
    first, second = 58, 58 + PANEL + GAP
    height = second + PANEL + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        "<style>text{fill:#777}.title{font-weight:600}.mark{text-anchor:end}.time{text-anchor:middle}"
        ".grid{stroke:#999;stroke-opacity:.35}.trouble{fill:#d9a441;fill-opacity:.18}"
        ".line{fill:none;stroke-width:2}</style>",
        f"<title>{title}</title>",
    ]
    place = LEFT
    for arm in results:
        parts.append(f'<rect x="{place}" y="12" width="14" height="4" fill="{COLORS[arm]}"/>')
        parts.append(f'<text x="{place + 20}" y="18">{NAMES[arm]}</text>')
        place += 40 + 7 * len(NAMES[arm])
    marks = [rate * part / 2 for part in range(3)]
    parts += panel(first, f"Successes a second ({title})", good, seconds, rate * 1.1, marks, lambda m: f"{m:.0f}", window)
    marks = [limit * part / 2 for part in range(3)]
    parts += panel(second, "99th percentile of all outcomes", late, seconds, limit, marks, lambda m: f"{m:.0f} ms", window)
    return "\n".join([*parts, "</svg>", ""])
