"""The scenarios and the contenders."""
from dataclasses import dataclass, field

CONTENDERS = ["control", "same-request", "send", "batches", "on-loop", "pipeline", "logged", "traced", "measured", "resilient", "all-steps", "typed", "layer-urlsession", "raw-urlsession", "ahc"]
DESCRIPTIONS = {
    "control": "libcurl from C",
    "same-request": "libcurl from C, with the header fields that this library adds",
    "send": "this library: send, over libcurl",
    "batches": "this library: send, its loop scheduled in batches",
    "on-loop": "this library: send, its tasks on the loop's thread",
    "pipeline": "this library: the pipeline over libcurl, body not decoded",
    "logged": "this library: the pipeline with a log below its level",
    "traced": "this library: the pipeline with spans, kept in memory",
    "measured": "this library: the pipeline with metrics, kept in memory",
    "resilient": "this library: the pipeline with .resilient()",
    "all-steps": "this library: the pipeline with all four",
    "typed": "this library: the typed call over libcurl, decoded",
    "layer-urlsession": "this library over URLSession",
    "raw-urlsession": "URLSession",
    "ahc": "AsyncHTTPClient",
}
STEPS = ["logged", "traced", "measured", "resilient", "all-steps"]
OURS_AND_PEERS = [name for name in CONTENDERS if name not in ("same-request", "typed", "batches", *STEPS)]
WITH_BATCHES = [name for name in CONTENDERS if name not in ("same-request", "typed", *STEPS)]
# Contenders that are another one's program with an additional argument.
VARIANTS = {"same-request": ("control", "fields=1"), "on-loop": ("send", "thread=loop"), "batches": ("send", "schedule=batch"),
            **{step: ("steps", f"steps={step}") for step in STEPS[:4]}, "all-steps": ("steps", "steps=" + "+".join(STEPS[:4]))}
# A request of URLSession takes a dozen times as long, so it gets fewer of them.
SLOW = {"layer-urlsession": 8, "raw-urlsession": 8}


@dataclass
class Scenario:
    name: str
    title: str
    mode: str
    in_flight: int
    count: int
    path: str
    server: str = "plain"
    quick_count: int = 0
    body: str = ""
    options: dict = field(default_factory=dict)
    contenders: list = field(default_factory=lambda: OURS_AND_PEERS)
    # The goals by contender: (CPU per request, throughput) as ratios to the control.
    goals: dict = field(default_factory=dict)

    def arguments(self, servers, contender, quick):
        count = self.quick_count if quick else self.count
        if contender in SLOW and self.mode != "idle":
            count = max(count // SLOW[contender], min(count, 2 * self.in_flight))
        scheme = "http" if self.server == "plain" else "https"
        url = f"{scheme}://127.0.0.1:{getattr(servers, self.server)}/{self.path}"
        words = [self.mode, str(self.in_flight), str(count), url]
        if contender in VARIANTS:
            words.append(VARIANTS[contender][1])
        if self.body:
            words.append(f"bytes={servers.bytes(self.body)}")
        if scheme == "https":
            words.append(f"ca={servers.authority}")
        if "polls" in self.options:
            words.append(f"poll={servers.poll_url}")
        return words + [f"{key}={value}" for key, value in self.options.items()]


def small(name, title, in_flight, count, **more):
    return Scenario(
        name, title, "get", in_flight, count, "small.json", body="small.json", quick_count=count // 20, **more
    )


TRANSPORT = ["control", "send", "on-loop", "layer-urlsession", "raw-urlsession", "ahc"]
CURL_AND_AHC = ["control", "send", "pipeline", "ahc"]
TLS = ["control", "send", "raw-urlsession", "ahc"]

SCENARIOS = [
    small("small-1", "small GET, one after the other", 1, 8_000),
    small("small-64", "small GET, 64 in flight", 64, 40_000,
          contenders=[name for name in CONTENDERS if name != "typed"], goals={"send": (1.10, 0.95)}),
    small("small-512", "small GET, 512 in flight", 512, 40_000, goals={"send": (1.10, 0.95)}),
    small("small-polls", "small GET, 64 in flight, and 900 long polls", 64, 30_000, options={"polls": 900},
          contenders=["control", "send", "pipeline", "ahc"], goals={"send": (1.10, 0.95)}),
    Scenario("small-decoded", "small GET, 64 in flight, decoded", "json", 64, 30_000, "small.json",
             quick_count=1_500, body="small.json", contenders=["control", "typed", "layer-urlsession", "raw-urlsession", "ahc"],
             goals={"typed": (1.6, 0.75)}),
    small("tls-64", "small GET over TLS, 64 in flight", 64, 30_000, server="tls", contenders=CURL_AND_AHC + ["raw-urlsession"]),
    small("http2-100", "small GET over HTTP/2, 100 streams", 100, 30_000, server="http2", options={"http": 2},
          contenders=CURL_AND_AHC + ["raw-urlsession"], goals={"send": (1.10, 0.92)}),
    Scenario("get-64k", "64 KiB GET, 16 in flight", "get", 16, 12_000, "64k", quick_count=600, body="64k",
             contenders=WITH_BATCHES, goals={"send": (1.15, 0.95)}),
    Scenario("get-1m", "1 MiB GET, 8 in flight", "get", 8, 1_600, "1m", quick_count=80, body="1m",
             contenders=WITH_BATCHES, goals={"send": (0.60, 1.5)}),
    Scenario("stream-256m", "256 MiB GET, streamed", "stream", 1, 4, "256m", quick_count=1, body="256m",
             contenders=["control", "send", "layer-urlsession", "ahc"], goals={"send": (1.2, 0.95)}),
    Scenario("collect-256m", "256 MiB GET, collected", "get", 1, 2, "256m", quick_count=1, body="256m"),
    Scenario("post-64k", "64 KiB POST, 16 in flight", "post", 16, 12_000, "sink", quick_count=600,
             contenders=TRANSPORT, goals={"send": (1.15, 0.95)}),
    Scenario("upload-64m", "64 MiB POST, streamed", "upload", 1, 8, "whole", quick_count=1,
             options={"bytes": 64 << 20}, contenders=["control", "send", "ahc"]),
    Scenario("list-decoded", "JSON of ten items, 64 in flight, decoded", "json", 64, 20_000, "list.json",
             quick_count=1_000, body="list.json", contenders=["control", "typed", "layer-urlsession", "raw-urlsession", "ahc"]),
    Scenario("gzip", "gzip JSON of 75 KB, 16 in flight", "get", 16, 6_000, "gzip/large.json", quick_count=300,
             body="large.json", options={"gzip": 1}, contenders=WITH_BATCHES, goals={"send": (1.15, 0.9)}),
    small("tls-new", "new TLS connection each, without tickets, 8 in flight", 8, 2_000, server="fresh_without_tickets",
          contenders=CURL_AND_AHC + ["raw-urlsession"], goals={"send": (1.02, 0.98)}),
    small("tls-tickets", "new TLS connection each, with tickets, 8 in flight", 8, 3_000, server="fresh",
          contenders=CURL_AND_AHC + ["raw-urlsession"], goals={"send": (1.02, 0.98)}),
    Scenario("idle", "1,000 idle connections", "idle", 1_000, 1_000, "slow", quick_count=1_000, body="slow",
             contenders=CURL_AND_AHC, goals={"send": (1.1, None)}),
    Scenario("idle-tls", "1,000 idle connections, TLS", "idle", 1_000, 1_000, "slow", server="tls", quick_count=1_000,
             body="slow", contenders=CURL_AND_AHC, goals={"send": (1.1, None)}),
    Scenario("burst-64", "burst of 64", "burst", 64, 19_200, "small.json", quick_count=640, body="small.json"),
    Scenario("start", "start-up: the process and one request", "get", 1, 1, "small.json", quick_count=1,
             body="small.json", contenders=OURS_AND_PEERS),
]
