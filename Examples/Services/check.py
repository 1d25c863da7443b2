"""Starts the example service and checks what it shows. Run by scripts/check-shop."""

import argparse
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

PEERS = ("catalog", "prices", "stock")
HERE = pathlib.Path(__file__).parent


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def check(condition, text, shown=""):
    if not condition:
        raise SystemExit(f"check-shop: not so: {text}{': ' if shown else ''}{str(shown)[:2000]}")
    print(f"  {text}")


def until(what, test, seconds=20):
    """Returns the first result of the test that is true."""
    end = time.monotonic() + seconds
    while True:
        try:
            result = test()
        except OSError as error:
            result, last = None, error
        else:
            last = result
        if result:
            return result
        if time.monotonic() > end:
            raise SystemExit(f"check-shop: not within {seconds} s: {what}; last: {str(last)[:1000]}")
        time.sleep(0.05)


def get(port, path, timeout=20):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


class House:
    """All processes, their ports and their logs."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.running = pathlib.Path(programs), pathlib.Path(folder), {}
        self.ports = dict(zip((*PEERS, "shop", "prometheus"), free_ports(5)))
        # The break is shorter than in production, so that the check does not wait for it.
        self.environment = os.environ | {
            "SHOP_CONFIG": str(HERE / "shop.json"), "SHOP_PORT": str(self.ports["shop"]), "SHOP_DRAIN_SECONDS": "1",
            "PRICES_RESILIENCE_BREAKER_BREAK_TIME": "1s",
        } | {f"{name.upper()}_BASE_URL": f"http://{name}.localhost:{self.ports[name]}" for name in PEERS}

    def start(self, name):
        if name == "prometheus":
            text = (HERE / "prometheus.yml").read_text()
            text = text.replace("shop:8080", f"127.0.0.1:{self.ports['shop']}").replace("5s", "1s")
            config = self.folder / "prometheus.yml"
            config.write_text(text)
            command = [
                "prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/tsdb",
                f"--web.listen-address=127.0.0.1:{self.ports[name]}"]
        elif name == "shop":
            command = [self.programs / "Shop"]
        else:
            command = [self.programs / "Upstream", name, str(self.ports[name])]
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment)
        path = "/-/ready" if name == "prometheus" else "/health"
        until(f"{name} answers", lambda: get(self.ports[name], path)[0] == 200)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def fault(self, name, kind, **more):
        body = json.dumps({"kind": kind, **more}).encode()
        url = f"http://127.0.0.1:{self.ports[name]}/fault"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body), timeout=10) as response:
                response.read()
        except (OSError, http.client.HTTPException):
            # One that is down says nothing.
            if kind != "down":
                raise

    def shop(self, path):
        return get(self.ports["shop"], path)

    def query(self, text):
        """Returns the values of a query by their labels' values."""
        status, body = get(self.ports["prometheus"], "/api/v1/query?" + urllib.parse.urlencode({"query": text}))
        found = json.loads(body)
        if status != 200 or found["status"] != "success":
            raise SystemExit(f"check-shop: Prometheus refuses {text}: {body}")
        return {
            tuple(value.removesuffix(".localhost") for _, value in sorted(entry["metric"].items())):
            float(entry["value"][1])
            for entry in found["data"]["result"]
        }

    def stop(self):
        for process in self.running.values():
            process.kill()
            process.wait()


class Load:
    """Clients with a connection each, that ask for products until they are told to stop."""

    def __init__(self, port, clients=8):
        self.port, self.outcomes, self.ending = port, [], threading.Event()
        self.start = time.monotonic()
        self.threads = [threading.Thread(target=self.ask) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        connection, number = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30), 0
        while not self.ending.is_set():
            number += 1
            try:
                connection.request("GET", f"/products/{number}")
                response = connection.getresponse()
                response.read()
                self.outcomes.append(response.status)
            except (OSError, http.client.HTTPException) as error:
                self.outcomes.append(repr(error))
                connection.close()
            time.sleep(0.02)
        connection.close()

    def end(self):
        """Returns the outcomes with their counts, and the requests a second."""
        self.ending.set()
        for thread in self.threads:
            thread.join()
        rate = len(self.outcomes) / (time.monotonic() - self.start)
        return {outcome: self.outcomes.count(outcome) for outcome in set(self.outcomes)}, rate


def check_metrics(house, quick):
    print("Prometheus")

    def targets():
        return json.loads(get(house.ports["prometheus"], "/api/v1/targets")[1])["data"]["activeTargets"]

    # It looks for targets every five seconds.
    until("the target is up", lambda: [target["health"] for target in targets()] == ["up"])
    check(targets()[0]["labels"]["job"] == "shop", "its target is up", targets())
    seconds = 6.5 if quick else 30
    load = Load(house.ports["shop"])
    time.sleep(seconds)
    counts = house.query("sum by (server_address) (rate(http_client_request_duration_seconds_count[5s]))")
    quantile = "histogram_quantile(0.99, sum by (le, server_address) (rate({}_bucket[5s])))".format(
        "http_client_request_duration_seconds")
    fast = house.query(quantile)
    connections = house.query("sum by (origin) (http_client_open_connections)")
    outcomes, rate = load.end()
    check(set(outcomes) == {200}, f"{outcomes[200]} products, {rate:.0f} a second", outcomes)
    check(
        set(counts) == {(name,) for name in PEERS} and all(0.7 * rate < each < 1.3 * rate for each in counts.values()),
        f"requests a second by peer: { {key[0]: round(value, 1) for key, value in counts.items()} }", counts)
    check(
        set(fast) == {(name,) for name in PEERS} and all(0 < each < 0.5 for each in fast.values()),
        f"p99 in seconds: { {key[0]: round(value, 3) for key, value in fast.items()} }", fast)
    check(len(connections) == 3 and all(connections.values()), f"open connections: {connections}")

    house.fault("prices", "slow", milliseconds=600)
    house.fault("stock", "fail", share=0.2)
    load = Load(house.ports["shop"])
    time.sleep(seconds)
    slow = house.query(quantile)
    errors = house.query(
        'sum by (server_address, error_type) (rate(http_client_request_duration_seconds_count{error_type!=""}[5s])) > 0')
    outcomes, _ = load.end()
    house.fault("prices", "none")
    house.fault("stock", "none")
    check(
        slow[("prices",)] > 0.5 > slow[("catalog",)],
        f"the slow one shows in p99: { {key[0]: round(value, 3) for key, value in slow.items()} }", slow)
    check(set(errors) == {("503", "stock")}, f"errors a second by peer: {errors}", errors)
    check(set(outcomes) == {200}, "and all products were answered", outcomes)


def check_faults(house):
    print("Faults")
    # peer, fault, status, the kind of error in the log
    table = [
        ("prices", {"kind": "fail"}, 502, "unacceptableStatus"),
        ("prices", {"kind": "slow", "milliseconds": 5_000}, 504, "Timeout"),
        ("prices", {"kind": "reset"}, 502, "connectionLost"),
        ("catalog", {"kind": "hang"}, 504, "Timeout"),
        ("catalog", {"kind": "down"}, 502, "connectFailed"),
        ("stock", {"kind": "fail"}, 200, ""),
        ("stock", {"kind": "hang"}, 200, "Timeout"),
        ("stock", {"kind": "reset"}, 200, "connectionLost"),
    ]
    for name, fault, expected, kind in table:
        house.fault(name, **fault)
        if fault["kind"] == "down":
            house.running[name].wait(10)
        before = len(house.log("shop"))
        status, body = house.shop("/products/5")
        answer = json.loads(body)
        if fault["kind"] == "down":
            house.start(name)
        house.fault(name, "none")
        check(status == expected, f"{name} {fault['kind']}: {status}", body)
        lines = house.log("shop")[before:].splitlines()
        if status == 200:
            check(answer["stock"] is None and answer["name"] == "Lamp 5", "  a product without its stock", body)
            lines = [line for line in lines if "a product without its stock" in line]
        else:
            lines = [line for line in lines if f"trace.id={answer['trace']}" in line and f": {status}, because" in line]
        named = f"url.full=http://{name}.localhost:{house.ports[name]}/items/5"
        check(
            len(lines) == 1 and kind in lines[0] and (named in lines[0] or not kind),
            f"  the log names the peer{' and ' + kind if kind else ''}", house.log("shop")[before:])
        if status == 504 and name == "prices":
            check_trace(house, answer["trace"])
    house.fault("prices", "fail")

    def is_open():
        refused, health = house.shop("/products/5")[0] == 503, house.shop("/health")[1]
        return refused and "prices breaker" in health and "open(" in health

    until("the breaker opens", is_open)
    print("  the breaker is open")
    house.fault("prices", "none")
    until("the breaker closes", lambda: house.shop("/products/5")[0] == 200)
    print("  and it closes")


def check_trace(house, trace):
    spans = json.loads(house.shop(f"/traces/{trace}")[1])
    spans = spans["spans"] if isinstance(spans, dict) else spans
    events = {event["name"] for span in spans for event in span["events"]}
    check(
        len(spans) >= 8 and {"queue", "request sent", "first byte"} <= events,
        f"  its trace has {len(spans)} spans, with the phases {', '.join(sorted(events))}", spans)
    # What a step cancels because it takes too long is a timeout, for whoever looks for the cause.
    kinds = {span["attributes"].get("error.type") for span in spans if span["kind"] == "client"}
    check("attemptTimeout" in kinds and "cancelled" not in kinds, f"  its attempts ended with {kinds - {None}}", spans)
    check(f"trace.id={trace}" in house.log("prices"), "  the peer's log has the trace too")


def check_proxy(house):
    print("Proxy")
    body = os.urandom(5_000_000)
    for chunked in (False, True):
        framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body)}"
        head = (
            f"POST /catalog/echo?a=b HTTP/1.1\r\nHost: shop\r\nContent-Type: image/png\r\n{framing}\r\nX-Kept: yes\r\n"
            "Connection: X-Mine\r\nX-Mine: secret\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\n\r\n").encode()
        with socket.create_connection(("127.0.0.1", house.ports["shop"]), timeout=20) as connection:
            sent = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if chunked else body
            sender = threading.Thread(target=connection.sendall, args=(head + sent,))
            sender.start()
            response = http.client.HTTPResponse(connection)
            response.begin()
            received = response.read()
            sender.join()
        check(received == body, f"5 MB both ways, {framing.split(':')[0]}", f"{response.status}, {len(received)} bytes")
        fields = {field.lower() for field in response.headers.get_all("X-Received")}
        names = {field.split(":")[0] for field in fields}
        check(
            "x-kept: yes" in fields and "via: 1.1 shop" in fields
            and not names & {"x-mine", "keep-alive", "te", "connection"}
            and response.headers["X-Of-This-Hop"] is None and response.headers["Via"] == "1.1 shop",
            "fields of one hop are not passed on, in either direction", (fields, response.headers.items()))

    # A client that does not read stops the upload, at what the sockets and the windows hold.
    total = 256 << 20
    with socket.create_connection(("127.0.0.1", house.ports["shop"]), timeout=2) as connection:
        connection.sendall(
            f"POST /catalog/echo HTTP/1.1\r\nHost: shop\r\nContent-Length: {total}\r\n\r\n".encode())
        sent, piece = 0, bytes(65_536)
        try:
            while sent < total:
                sent += connection.send(piece)
        except TimeoutError:
            pass
        check(sent < 96 << 20, f"a client that does not read is held at {sent >> 20} MiB of {total >> 20}", sent)
        mark = len(house.log("shop"))
    until("the cut body is logged", lambda: "a body was cut off" in house.log("shop")[mark:] or "has gone" in
          house.log("shop")[mark:])

    house.fault("catalog", "hang")
    mark = len(house.log("shop"))
    with socket.create_connection(("127.0.0.1", house.ports["shop"]), timeout=5) as connection:
        connection.sendall(b"POST /catalog/echo HTTP/1.1\r\nHost: shop\r\nContent-Length: 1\r\n\r\nx")
        until("the request is in flight", lambda: active(house) == 1)
    until("it is cancelled", lambda: active(house) == 0, 5)
    until("the log says so", lambda: "the client has gone" in house.log("shop")[mark:], 5)
    print("  a client that goes away cancels its exchange")
    house.fault("catalog", "none")


def active(house):
    lines = [line for line in house.shop("/metrics")[1].splitlines() if line.startswith("http_client_active_requests")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if 'url_template="/catalog/{path}"' in line)


def check_shutdown(house):
    print("SIGTERM")
    # The limits and breakers have learned from the faults, and would refuse some of a load: a new process has not.
    house.running["shop"].send_signal(signal.SIGTERM)
    check(house.running["shop"].wait(20) == 0, "without a load, the process ends with 0")
    house.start("shop")
    load = Load(house.ports["shop"], clients=16)
    until("the load runs", lambda: len(load.outcomes) > 200)
    # Requests that are in flight for longer than the server's last second of service.
    house.fault("prices", "slow", milliseconds=900)
    house.fault("catalog", "slow", milliseconds=900)
    before = len(load.outcomes)
    shop = house.running["shop"]
    shop.send_signal(signal.SIGTERM)
    until("/health says that it ends", lambda: house.shop("/health")[0] == 503)
    # As a balancer does it: no more requests from here on. Those that run are counted.
    outcomes, _ = load.end()
    check(set(outcomes) == {200}, f"{outcomes.get(200)} answered, {len(load.outcomes) - before} of them after the signal"
          ", none lost", outcomes)
    check(shop.wait(20) == 0, "the process ends with 0")
    check("everything that was accepted is answered" in house.log("shop"), "and its log says so")


def take_pictures(house, folder):
    folder.mkdir(parents=True, exist_ok=True)
    prometheus, shop = f"http://127.0.0.1:{house.ports['prometheus']}", f"http://127.0.0.1:{house.ports['shop']}"
    duration = "http_client_request_duration_seconds"
    graphs = [
        f"sum by (server_address) (rate({duration}_count[10s]))",
        f"histogram_quantile(0.99, sum by (le, server_address) (rate({duration}_bucket[10s])))",
        f'sum by (server_address, error_type) (rate({duration}_count{{error_type!=""}}[10s]))',
    ]
    words = {"g0.range_input": "2m", "g0.tab": "0"}
    # Debian's Prometheus has only the older pages.
    targets = "/classic/targets" if get(house.ports["prometheus"], "/classic/targets")[0] == 200 else "/targets"
    pages = {"targets": f"{prometheus}{targets}", "traces": f"{shop}/traces"} | {
        f"query-{number}": f"{prometheus}/graph?" + urllib.parse.urlencode({"g0.expr": text} | words)
        for number, text in enumerate(graphs, 1)
    }
    for name, url in pages.items():
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,900",
             "--virtual-time-budget=8000", f"--user-data-dir={house.folder}/chromium",
             f"--screenshot={folder / name}.png", url],
            check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"Pictures: {', '.join(sorted(pages))} in {folder}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pictures", type=pathlib.Path)
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        house = House(options.programs, folder)
        try:
            for name in ("prometheus", *PEERS, "shop"):
                house.start(name)
            check_metrics(house, options.quick)
            check_faults(house)
            check_proxy(house)
            if options.pictures:
                take_pictures(house, options.pictures)
            check_shutdown(house)
        except BaseException:
            for name in house.running:
                sys.stderr.write(f"\n==== the end of {name}'s log\n{house.log(name)[-6000:]}\n")
            raise
        finally:
            house.stop()
    print(f"The example service: all checks passed in {time.monotonic() - begin:.0f} s")


main()
