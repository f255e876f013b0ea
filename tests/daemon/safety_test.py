#!/usr/bin/env python3
"""What tautd does not let happen: strangers, slow clients, secrets in logs, broken files, long ends."""
import pathlib
import signal
import socket
import time

import daemon

READER = "reader-0123456789abcdef0123456789"
WRITER = "writer-0123456789abcdef0123456789"
OPERATOR = "operator-0123456789abcdef012345678"


def refuses_strangers(stage):
    for address in ("0.0.0.0:0", "[::]:0"):
        ended = stage.run(stage.args.tautd, "--listen", address, "--store", "memory", seconds=20)
        stage.check(ended.returncode in (1, 2), f"--listen {address} without tokens does not start",
                    ended.returncode)
        stage.check("operator token" in ended.stderr and "127.0.0.1" in ended.stderr,
                    "and says both ways out", ended.stderr)


def check_config(stage):
    path = stage.file("unknown.yaml", "server:\n  lisen: [127.0.0.1:0]\n")
    ended = stage.run(stage.args.tautd, "--check-config", "--config", path)
    stage.equal(ended.returncode, 2, "--check-config of an unknown key exits with 2")
    stage.check("lisen" in ended.stderr and "server.listen" in ended.stderr and "unknown.yaml:2" in ended.stderr,
                "names the key, the nearest one, the file and the line", ended.stderr)
    fine = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("fine.yaml", "clock: samples\n"))
    stage.equal((fine.returncode, fine.stderr), (0, ""), "--check-config of a good file exits with 0")
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    example = stage.run(stage.args.tautd, "--check-config", "--config", root / "docs" / "tautd.example.yaml")
    stage.equal((example.returncode, example.stderr), (0, ""), "the example configuration is fine")
    missing = stage.run(stage.args.tautd, "--config", stage.dir / "nowhere.yaml")
    stage.check(missing.returncode == 2 and "nowhere.yaml" in missing.stderr,
                "a configuration that is not there exits with 2 and is named", missing.stderr)


def tokens(stage):
    """Who may do what; and no token is ever written to the log or told by the API."""
    config = (f"server:\n  tokens:\n    reader_file: {stage.file('readers', READER)}\n"
              f"    writer_file: {stage.file('writers', WRITER + ' prometheus' + chr(10))}\n"
              f"    operator_file: {stage.file('operators', '# of the test' + chr(10) + OPERATOR + chr(10))}\n")
    checked = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("tokens.yaml", config))
    if not stage.equal((checked.returncode, checked.stderr), (0, ""), "token files with a comment are read"):
        config = config.replace(str(stage.dir / "operators"), str(stage.file("plain", OPERATOR + "\n")))
    tautd = stage.tautd("--clock", "samples", config=config)
    now = time.time()
    body = daemon.write_body([({"__name__": "container_memory_working_set_bytes", "namespace": "a", "pod": "b-0", "container": "c"},
                               [(now - 1200 + 15 * i, 5e8) for i in range(80)])])
    guess = "guessed-0123456789abcdef01234567"
    patch = dict(method="PATCH", body='{"mode": "auto"}')
    stage.equal(tautd.ask("/healthz").status, 200, "/healthz needs no token")
    for path in ("/api/v1/fleet", "/metrics", "/"):
        stage.equal(tautd.ask(path).status, 401, f"{path} without a token: 401")
    stage.equal(tautd.ask("/api/v1/fleet", token=guess).status, 401, "a wrong token: 401")
    stage.equal(tautd.ask("/api/v1/fleet", token=READER).status, 200, "a reader reads")
    stage.equal(daemon.write(tautd.port, body).status, 401, "remote write without a token: 401")
    stage.equal(daemon.write(tautd.port, body, READER).status, 403, "remote write of a reader: 403")
    stage.equal(daemon.write(tautd.port, body, OPERATOR).status, 204, "remote write of an operator: 204")
    stage.equal(daemon.write(tautd.port, body, WRITER).status, 204, "remote write of a writer: 204")
    for path in ("/api/v1/fleet", "/api/v1/jobs", "/api/v1/events", "/metrics", "/", "/api/v1/openapi.yaml"):
        stage.equal(tautd.ask(path, token=WRITER).status, 403, f"{path} of a writer: 403")
    known = daemon.eventually(lambda: tautd.get("/api/v1/jobs", token=READER)["total"] == 1, 20)
    stage.check(known, "its job is there")
    job = f"/api/v1/jobs/{daemon.quoted(tautd.get('/api/v1/jobs', token=READER)['jobs'][0]['name'])}"
    settings = f"{job}/settings"
    stage.equal(tautd.ask(settings, **patch).status, 401, "PATCH without a token: 401")
    stage.equal(tautd.ask(settings, token=WRITER, **patch).status, 403, "PATCH of a writer: 403")
    stage.equal(tautd.ask(settings, token=READER, **patch).status, 403, "PATCH of a reader: 403")
    stage.equal(tautd.ask(settings, token=OPERATOR, **patch).status, 200, "PATCH of an operator: 200")
    stage.equal(tautd.ask(f"{job}/whatif", token=READER, method="POST", body="{}").status, 200,
                "what-if of a reader: 200")
    told = [tautd.ask(p, token=OPERATOR).text for p in ("/api/v1/settings", "/api/v1/status", "/metrics", settings)]
    short = stage.run(stage.args.tautd, "--store", "memory", "--listen", "127.0.0.1:0", "--config",
                      stage.file("short.yaml", f"server: {{tokens: {{reader_file: {stage.file('s', 'sesame12')}}}}}\n"),
                      seconds=20)
    stage.check(short.returncode in (1, 2) and "16" in short.stderr, "a short token is refused", short.stderr)
    stage.equal(tautd.stop(), 0, "it stops")
    said = tautd.output()
    stage.check(said and not any(t in said for t in (READER, WRITER, OPERATOR, guess)), "no token in the log", said)
    stage.check("sesame12" not in short.stderr, "nor a token that is refused", short.stderr)
    stage.check(not any(t in text for text in told for t in (READER, OPERATOR)), "the API shows no token")


def slow_clients(stage):
    """Requests that never come to their end are ended, while others are served."""
    tautd = stage.tautd(config="server: {limits: {idle: 2s, body_time: 2s}}\n")
    kinds = {
        "header": b"GET /api/v1/fleet HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        "body": b"POST /api/v1/write HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Encoding: snappy\r\n"
                b"Content-Length: 1000\r\n\r\n",
        "silence": b"",
    }
    open_now = {}
    for kind, first in kinds.items():
        s = socket.create_connection(("127.0.0.1", tautd.port), timeout=5)
        s.sendall(first)
        s.settimeout(0.2)
        open_now[kind] = s
    end = time.monotonic() + 120
    cut = {}
    while open_now and time.monotonic() < end:
        for kind, s in list(open_now.items()):
            try:
                if kind != "silence":
                    s.sendall(b"X")  # a byte a time, as a slow loris does
                if s.recv(4096) == b"":
                    raise ConnectionResetError
            except socket.timeout:
                continue
            except OSError:
                cut[kind] = True
                open_now.pop(kind).close()
        if not daemon.answers(tautd.port, "/healthz"):
            stage.check(False, "others are answered meanwhile")
            break
    for kind in kinds:
        stage.check(kind in cut, f"a client that is slow with its {kind} is cut")
    metrics = tautd.ask("/metrics").text
    counted = [line for line in metrics.splitlines() if line.startswith("tautd_http_clients_cut_total ")]
    stage.check(counted and float(counted[0].split()[1]) >= 2, "/metrics counts them", counted)


def reload_and_end(stage):
    """HUP takes new rules and keeps the old ones if the file is broken; TERM is quick, and so is the next start."""
    def rules(mode):
        return f"clock: samples\nrules:\n  - {{name: mine, match: {{job: '*'}}, set: {{mode: {mode}}}}}\n"

    store = stage.dir / "reload.db"
    tautd = stage.tautd(config=rules("observe"), store=store)
    path = tautd.config
    stage.feed_history(tautd, "30h", "--jobs", "20")
    job = tautd.get("/api/v1/jobs")["jobs"][0]["name"]

    def mode():
        values = tautd.get(f"/api/v1/jobs/{daemon.quoted(job)}/settings")["values"]
        return next(v["value"] for v in values if v["key"] == "mode")

    stage.equal(mode(), "observe", "the mode is that of the rules")
    path.write_text(rules("auto"))
    tautd.popen.send_signal(signal.SIGHUP)
    stage.check(daemon.eventually(lambda: mode() == "auto", 10), "HUP: the new rules are in force", mode())
    before = len(tautd.output())
    path.write_text(rules("sideways"))
    tautd.popen.send_signal(signal.SIGHUP)
    stage.check(daemon.eventually(lambda: "sideways" in tautd.output()[before:], 10),
                "HUP with a broken file: the log says what is wrong", tautd.output()[before:])
    stage.equal(mode(), "auto", "and the old rules stay")
    stage.check(tautd.running() and daemon.answers(tautd.port, "/readyz"), "and it stays ready")
    path.write_text(rules("off"))
    tautd.popen.send_signal(signal.SIGHUP)
    stage.check(daemon.eventually(lambda: mode() == "off", 10), "HUP with a mended file is taken again", mode())

    jobs = tautd.get("/api/v1/jobs?limit=1000&sort=name")["total"]
    decisions = tautd.get("/api/v1/decisions?limit=1000")["decisions"]
    stopped = time.monotonic()
    stage.equal(tautd.stop(), 0, "TERM ends it with exit code 0")
    print(f"      it took {time.monotonic() - stopped:.2f} s to end")
    asked = time.monotonic()
    again = stage.tautd(config=rules("off"), store=store)
    print(f"      the second start took {time.monotonic() - asked:.2f} s")
    stage.equal(again.get("/api/v1/jobs?limit=1000&sort=name")["total"], jobs, "with the same jobs")
    kept = {d["id"]: d for d in again.get("/api/v1/decisions?limit=1000")["decisions"]}
    stage.check(decisions and all(kept.get(d["id"]) == d for d in decisions),
                f"and the same {len(decisions)} decisions", len(kept))
    stage.equal(again.stop(sig=signal.SIGINT), 0, "INT ends it too")


def one_at_a_time(stage):
    """Two daemons on one store, or on one port, would spoil each other."""
    store = stage.dir / "one.db"
    first = stage.tautd(store=store)
    port_taken = stage.run(stage.args.tautd, "--listen", f"127.0.0.1:{first.port}", "--store", "memory", seconds=20)
    stage.check(port_taken.returncode == 1 and str(first.port) in port_taken.stderr,
                "a port that is taken ends it with 1, and it says which", port_taken.stderr)
    try:
        stage.tautd(store=store, seconds=15)
        stage.check(False, "a second tautd does not open the same store")
    except RuntimeError as e:
        stage.check("ended with 1" in str(e) and "one.db" in str(e), "a second tautd does not open the same store", e)
    stage.check(daemon.answers(first.port, "/readyz"), "the first goes on")


def main():
    with daemon.Stage(daemon.arguments(__doc__)) as stage:
        for test in (refuses_strangers, check_config, tokens, slow_clients, reload_and_end, one_at_a_time):
            print(f"-- {test.__name__}", flush=True)
            test(stage)
    stage.finish()


if __name__ == "__main__":
    main()
