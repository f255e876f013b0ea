"""Shared parts of end-to-end tests and benchmarks: processes in a temporary folder that end whatever happens, HTTP, remote write.

Tests have a Stage as the fixture `stage` of tests/conftest.py; a benchmark is `with Stage(arguments(...)) as stage:`.
"""
import argparse
import atexit
import contextlib
import ctypes
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

PATIENCE = float(os.environ.get("TAUT_TEST_PATIENCE", "3"))  # a busy machine takes longer; a condition that holds does not wait
SKIPPED = 77  # exit code that ctest counts as skipped
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class JsonHandler(http.server.BaseHTTPRequestHandler):
    """Handler of servers that a test runs beside the daemon, such as a Prometheus."""

    def log_message(self, *args):
        pass

    def answer(self, status, text):
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
        except OSError:
            pass  # the daemon was killed


def arguments(what, **options):
    """Parses --tautd and --taut, and `options`: name=(default, help)."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--tautd", required=True, help="path of tautd")
    parser.add_argument("--taut", required=True, help="path of taut")
    for name, (default, text) in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{text} ({default})")
    return parser.parse_args()


def feeder(args):
    """Returns the path of taut-dev, which is beside taut."""
    return pathlib.Path(args.taut).with_name("taut-dev")


def needs(*programs):
    """Returns the mark of tests that are skipped if one of these programs is not installed."""
    import pytest  # pylint: disable=import-outside-toplevel  # benchmarks use this file without it
    missing = [p for p in programs if shutil.which(p) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed (see tools/packages.txt): {', '.join(missing)}")


def free_port():
    """Returns a free port outside the range of outgoing connections, so that the caller may close and reopen it."""
    for _ in range(200):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.randrange(20000, 32000)))
            except OSError:
                continue
            return s.getsockname()[1]
    raise RuntimeError("no free port from 20000 to 32000")


def eventually(wanted, seconds, pause=0.1):
    """Returns the first true value of wanted() within `seconds` (times PATIENCE), or the last false one."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        value = wanted()
        if value or time.monotonic() > end:
            return value
        time.sleep(pause)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode(errors="replace")

    def json(self):
        return json.loads(self.body)


def ask(port, path, method="GET", body=None, headers=None, token=None, timeout=30):
    """Sends one request on its own connection; raises OSError or HTTPException if there is no response. A stream of events is not read: its
    body is empty."""
    sent = {"Connection": "close", **(headers or {})}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, body=body, headers=sent)
        response = connection.getresponse()
        got = {k.lower(): v for k, v in response.getheaders()}
        endless = got.get("content-type", "").startswith("text/event-stream")
        return Answer(response.status, got, b"" if endless else response.read())
    finally:
        connection.close()


def answers(port, path, status=200):
    """Returns whether a server responds there, with this status."""
    try:
        return ask(port, path, timeout=30).status == status
    except (OSError, http.client.HTTPException):
        return False


def metric(tautd, name, token=None):
    """Returns the value of a series of /metrics, whose name includes its labels; None if it is absent."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", tautd.ask("/metrics", token=token).text, re.M)
    return float(found[1]) if found else None


def in_store(store, sql, *values):
    """Returns the rows of this statement in the file of a store, which a tautd may have open."""
    with contextlib.closing(sqlite3.connect(store)) as db, db:
        return db.execute(sql, values).fetchall()


def state_of(store, name):
    """Returns the bytes that tautd keeps in the store under this name; None: none."""
    rows = in_store(store, "SELECT bytes FROM states WHERE name = ?", name)
    return rows[0][0] if rows else None


def quoted(name):
    """Returns a job's name quoted for a path."""
    return urllib.parse.quote(name, safe="")


# ---- remote write ----

def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def snappy(data):
    """Encodes a block of literals only: valid, and as long as its contents."""
    out = bytearray(varint(len(data)))
    for at in range(0, len(data), 1 << 16):
        piece = data[at:at + (1 << 16)]
        out += bytes([61 << 2]) + struct.pack("<H", len(piece) - 1) + piece
    return bytes(out)


STALE = struct.pack("<Q", 0x7FF0000000000002)  # the NaN that marks the end of a series


def write_body(series):
    """Returns a remote-write body of [(labels, [(seconds, value)])]; a value that is not a number is a stale marker."""
    out = bytearray()
    for labels, samples in series:
        one = bytearray()
        for name, value in sorted(labels.items()):
            one += field(1, field(1, name.encode()) + field(2, value.encode()))
        for seconds, value in samples:
            number = struct.pack("<d", value) if value == value else STALE
            one += field(2, b"\x09" + number + b"\x10" + varint(round(seconds * 1000)))
        out += field(1, bytes(one))
    return snappy(bytes(out))


WRITE_HEADERS = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf",
                 "X-Prometheus-Remote-Write-Version": "0.1.0"}


def write(port, body, token=None, headers=None):
    return ask(port, "/api/v1/write", "POST", body, WRITE_HEADERS if headers is None else headers, token)


def send(port, series, token=None, ahead=False):
    """Writes samples, and asserts that they are accepted. `ahead`: they may be ahead of the open windows, and are then sent again, as
    Prometheus does."""
    body, answers = write_body(series), []

    def is_taken():
        answers.append(write(port, body, token))
        return not ahead or answers[-1].status != 503

    eventually(is_taken, 30, 0.05)
    if answers[-1].status != 204:
        raise AssertionError(f"the samples are taken: {answers[-1].status} {answers[-1].text}")


# ---- processes ----

def grpc(stage, port, method, message, token=None, ca=None):
    """Makes a unary gRPC call by curl: returns the bytes of the response, or (code, message). `method`: package.Service/Method. `ca`: file
    of the server's certificate; none: no TLS."""
    asked, got, headers = (stage.dir / name for name in ("asked", "got", "headers"))
    asked.write_bytes(struct.pack(">BI", 0, len(message)) + message)
    got.write_bytes(b"")
    more = [] if token is None else ["-H", f"authorization: Bearer {token}"]
    headers.write_bytes(b"")
    secure = ["--http2-prior-knowledge"] if ca is None else ["--http2", "--cacert", ca]
    said = stage.run("curl", "-sS", "--noproxy", "*", *secure, "--max-time", "20", "-o", got, "-D", headers,
                     "-H", "content-type: application/grpc", "-H", "te: trailers", *more, "--data-binary", f"@{asked}",
                     f"http{'' if ca is None else 's'}://127.0.0.1:{port}/{method}")
    lines = dict(line.split(": ", 1) for line in headers.read_text().splitlines() if ": " in line)
    code = int(lines.get("grpc-status", -1))
    if code != 0:
        return code, lines.get("grpc-message", said.stderr)
    return got.read_bytes()[5:]


def end_with_parent():
    """Called in the child: the kernel kills it when the test ends, even by SIGKILL."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A started program and the file that both its outputs go to."""

    def __init__(self, name, argv, log):
        self.name, self.log = name, log
        with open(log, "ab") as out:
            self.popen = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          preexec_fn=end_with_parent)

    def output(self):
        return self.log.read_text(errors="replace")

    def running(self):
        return self.popen.poll() is None

    def kill(self):
        if self.running():
            self.popen.kill()
        self.popen.wait()

    def stop(self, seconds=60, sig=signal.SIGTERM):
        """Stops it. Returns its exit code; None if it had to be killed."""
        if self.running():
            self.popen.send_signal(sig)
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


class Tautd(Process):
    """A daemon that is ready."""
    port = 0
    config = None  # the path of its file

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path, *args, **more):
        return ask(self.port, path, *args, **more)

    def get(self, path, **more):
        answer = self.ask(path, **more)
        if answer.status != 200:
            raise AssertionError(f"GET {path}: {answer.status} {answer.text[:300]}")
        return answer.json()


    def has_ticked(self, token=None):
        """Returns whether a tick has passed since the last samples were sent: then acknowledged samples are on disk."""
        return "tautd_unwritten_sample_bytes 0\n" in self.ask("/metrics", token=token).text


class Stage:
    """A temporary folder with processes."""

    def __init__(self, args):
        self.args = args
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="taut_daemon_"))
        self.processes = []
        atexit.register(self.clean)

    def __enter__(self):
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(s, lambda number, _: sys.exit(128 + number))
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            for p in self.processes[-8:]:
                print(f"---- the end of what {p.name} said ----\n{p.output()[-3000:]}")
        self.clean()

    def clean(self):
        for p in self.processes:
            p.kill()
        self.processes = []
        shutil.rmtree(self.dir, ignore_errors=True)

    # ---- processes ----

    def file(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def kubeconfig(self, name, port):
        """Writes a kubeconfig with this name for the API server at the port."""
        return self.file(name, f"""current-context: test
contexts: [{{name: test, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: u, user: {{token: secret}}}}]
""")

    def start(self, name, argv, ready=lambda process: True, seconds=90, kind=Process):
        """Starts a process and waits until ready(process); raises RuntimeError if it ends or takes longer."""
        number = sum(p.name == name for p in self.processes)
        process = kind(name, [str(a) for a in argv], self.dir / f"{name}.{number}.log")
        self.processes.append(process)
        if not eventually(lambda: ready(process) or not process.running(), seconds, 0.02) or not process.running():
            code = process.popen.poll()
            how = f"ended with {code}" if code is not None else f"was not ready within {seconds} s"
            process.kill()
            raise RuntimeError(f"{name} {how}: {process.output()[-2000:]}")
        return process

    def tautd(self, *argv, config=None, store="memory", port=0, seconds=120):
        """Starts a tautd and waits until it is ready; `config` is the text of its file."""
        command = [self.args.tautd, "--listen", f"127.0.0.1:{port}", "--store", store, *argv]
        if config is not None:
            number = sum(p.name == "tautd" for p in self.processes)
            command += ["--config", self.file(f"tautd.{number}.yaml", config)]

        def ready(process):
            if not process.port:
                listens = process.output().partition("listens: http://127.0.0.1:")[2]
                process.port = int(listens.split("/")[0]) if "/" in listens else 0
            return process.port and answers(process.port, "/readyz")

        tautd = self.start("tautd", command, ready, seconds, Tautd)
        if config is not None:
            tautd.config = pathlib.Path(command[-1])
        return tautd

    def run(self, *argv, seconds=180, env=None):
        """Runs a program that ends by itself; returns its CompletedProcess with text. `env` replaces this process' environment."""
        return subprocess.run([str(a) for a in argv], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=seconds, preexec_fn=end_with_parent, check=False)

    def taut(self, tautd, *argv, **more):
        """Runs taut as a client of the daemon."""
        return self.run(self.args.taut, *argv, "--server", tautd.url, **more)

    def feed(self, port, *argv, seconds=400):
        """Runs a taut-dev feed that ends by itself."""
        fed = self.run(feeder(self.args), "feed", "--to", f"http://127.0.0.1:{port}", *argv, seconds=seconds)
        if fed.returncode != 0:
            raise RuntimeError(f"taut-dev feed {' '.join(argv)}: {fed.returncode} {fed.stderr[-1000:]}")
        return fed.stdout

    def feed_history(self, tautd, history, *argv, token=None):
        """Feeds history up to now to a daemon with clock: samples, and waits for its passes."""
        begin = time.time()
        said = self.feed(tautd.port, "--history", history, "--live", "0", *argv)
        print("      " + said.strip().replace("\n", "\n      "), flush=True)

        def lived():
            window_end = tautd.get("/api/v1/fleet", token=token)["time"]
            # The newest sample is up to 150 s before the end of the past, and windows close after the grace.
            return window_end is not None and window_end > begin - 1200

        if not eventually(lived, 120):
            raise RuntimeError(f"the fleet's clock did not come to the end of what was fed, {begin}")
