"""The servers of the contenders: an nginx with one worker on one core, and a port that never responds."""
import json
import os
import random
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

JSON_ITEMS = 560


def items(count):
    """Returns a JSON array of `count` items, the same in each run."""
    dice = random.Random(7)
    words = "amber birch cedar delta ember fjord grove heron inlet jetty karst ledge maple north ochre pines".split()
    return json.dumps(
        [
            {
                "id": number,
                "name": f"{dice.choice(words)} {dice.choice(words)}",
                "email": f"{dice.choice(words)}{number}@example.org",
                "isActive": dice.random() < 0.5,
                "balance": round(dice.uniform(-999, 9999), 2),
                "tags": dice.sample(words, 3),
            }
            for number in range(1, count + 1)
        ],
        separators=(",", ":"),
    )


class Servers:
    """A context manager that starts the servers in a folder of their own, and ends them."""

    def __init__(self, folder, core):
        self.folder = Path(folder)
        self.core = core
        self.ports = [free_port() for _ in range(5)]
        self.plain, self.tls, self.http2, self.fresh, self.fresh_without_tickets = self.ports
        self.authority = self.folder / "authority.pem"

    def __enter__(self):
        self._write_files()
        self._make_certificates()
        self._start_nginx()
        self._silent = socket.socket()
        self._silent.bind(("127.0.0.1", 0))
        self._silent.listen(65535)
        self._silent.setblocking(False)
        return self

    def __exit__(self, *_):
        self._silent.close()
        self._nginx.terminate()
        self._nginx.wait()

    @property
    def poll_url(self):
        """A URL that never responds: the kernel accepts connections and requests, and no program reads them."""
        return f"http://127.0.0.1:{self._silent.getsockname()[1]}/"

    def forget_polls(self):
        while True:
            try:
                self._silent.accept()[0].close()
            except BlockingIOError:
                return

    def accepted(self):
        """Returns the number of connections that nginx has accepted so far, without those of this method."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.plain}/status") as answer:
            numbers = answer.read().decode().splitlines()[2].split()
        self._asked += 1
        return int(numbers[0]) - self._asked

    def bytes(self, name):
        return (self.folder / "files" / name).stat().st_size

    def _write_files(self):
        files = self.folder / "files"
        files.mkdir(parents=True)
        (self.folder / "tmp").mkdir()
        (files / "small.json").write_text(items(1))
        (files / "list.json").write_text(items(10))
        (files / "large.json").write_text(items(JSON_ITEMS))
        subprocess.run(["gzip", "-k", "-6", files / "large.json"], check=True)
        (files / "slow").write_bytes(b"s" * 12288)
        block = random.Random(11).randbytes(1 << 20)
        (files / "64k").write_bytes(block[: 1 << 16])
        (files / "1m").write_bytes(block)
        with open(files / "256m", "wb") as file:
            for _ in range(256):
                file.write(block)

    def _make_certificates(self):
        def openssl(*words, text=None):
            subprocess.run(["openssl", *words], check=True, cwd=self.folder, capture_output=True, input=text)

        for name in "authority", "server":
            openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")
        openssl(
            "req", "-x509", "-new", "-key", "authority.key", "-out", "authority.pem", "-days", "30",
            "-subj", "/CN=benchmark authority", "-addext", "basicConstraints=critical,CA:TRUE",
            "-addext", "keyUsage=critical,keyCertSign",
        )
        openssl("req", "-new", "-key", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
        (self.folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl(
            "x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key",
            "-CAcreateserial", "-out", "server.pem", "-days", "30", "-extfile", "names",
        )

    def _start_nginx(self):
        user = "user root;" if os.getuid() == 0 else ""
        locations = f"""
            root "{self.folder}/files";
            location = /status {{ stub_status; keepalive_timeout 0; }}
            location = /sink {{ client_max_body_size 0; return 200 "taken"; }}
            # Responds when the whole body is there: a client may end an upload whose response has arrived.
            location = /whole {{
                client_max_body_size 0;
                client_body_buffer_size 65m;
                proxy_pass_request_body off;
                proxy_set_header Content-Length "";
                proxy_pass http://127.0.0.1:{self.plain}/sink;
            }}
            # One page a second: the last bytes come seconds after the first, which keeps many connections open at once.
            location = /slow {{ limit_rate 4k; }}
            location = /gzip/large.json {{ alias "{self.folder}/files/large.json"; gzip_static on; }}
        """
        servers = "".join(
            f"""
            server {{
                listen 127.0.0.1:{port}{' ssl' if tls else ''}{' http2' if http2 else ''} backlog=4096;
                {more}
                {locations}
            }}"""
            for port, tls, http2, more in [
                (self.plain, False, False, ""),
                (self.tls, True, False, ""),
                (self.http2, True, True, "http2_max_concurrent_streams 128;"),
                (self.fresh, True, False, "keepalive_timeout 0;"),
                (self.fresh_without_tickets, True, False,
                 "keepalive_timeout 0; ssl_session_tickets off; ssl_session_cache off;"),
            ]
        )
        (self.folder / "nginx.conf").write_text(
            f"""
            {user}
            daemon off;
            pid "{self.folder}/nginx.pid";
            error_log stderr warn;
            worker_processes 1;
            worker_rlimit_nofile 16384;
            events {{ worker_connections 8192; }}
            http {{
                types {{ application/json json; }}
                access_log off;
                server_tokens off;
                sendfile on;
                tcp_nopush on;
                keepalive_timeout 600s;
                keepalive_requests 100000000;
                client_body_temp_path "{self.folder}/tmp/body";
                proxy_temp_path "{self.folder}/tmp/proxy";
                fastcgi_temp_path "{self.folder}/tmp/fastcgi";
                uwsgi_temp_path "{self.folder}/tmp/uwsgi";
                scgi_temp_path "{self.folder}/tmp/scgi";
                # nginx's default would stop at TLS 1.2 here, with which libcurl requests no tickets.
                ssl_protocols TLSv1.2 TLSv1.3;
                ssl_certificate "{self.folder}/server.pem";
                ssl_certificate_key "{self.folder}/server.key";
                {servers}
            }}"""
        )
        command = ["nginx", "-c", self.folder / "nginx.conf", "-p", self.folder]
        if self.core is not None and shutil.which("taskset"):
            command = ["taskset", "-c", str(self.core), *command]
        self._log = open(self.folder / "nginx.log", "w")
        self._nginx = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT)
        self._asked = 0
        for _ in range(200):
            if self._nginx.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.plain), 1).close()
                self._asked += 1
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("nginx does not start:\n" + (self.folder / "nginx.log").read_text())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
