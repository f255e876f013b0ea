"""Safety of tautd: strangers, slow clients, secrets in logs, broken files, slow stops."""
import pathlib
import signal
import socket
import time

import pytest

import daemon

READER = "reader-0123456789abcdef0123456789"
WRITER = "writer-0123456789abcdef0123456789"
OPERATOR = "operator-0123456789abcdef012345678"


def test_an_open_address_without_tokens_is_refused(stage):
    for address in ("0.0.0.0:0", "[::]:0"):
        ended = stage.run(stage.args.tautd, "--listen", address, "--store", "memory", seconds=20)
        assert ended.returncode in (1, 2), f"--listen {address} without tokens does not start"
        assert "operator token" in ended.stderr and "127.0.0.1" in ended.stderr, "and says both ways out"


def test_check_config_names_an_unknown_key_and_its_line(stage):
    path = stage.file("unknown.yaml", "server:\n  lisen: [127.0.0.1:0]\n")
    ended = stage.run(stage.args.tautd, "--check-config", "--config", path)
    assert ended.returncode == 2, "--check-config of an unknown key exits with 2"
    assert "lisen" in ended.stderr and "server.listen" in ended.stderr and "unknown.yaml:2" in ended.stderr, (
        "names the key, the nearest one, the file and the line")


def test_check_config_takes_good_files(stage):
    fine = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("fine.yaml", "clock: samples\n"))
    assert (fine.returncode, fine.stderr) == (0, ""), "--check-config of a good file exits with 0"
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    example = stage.run(stage.args.tautd, "--check-config", "--config", root / "docs" / "tautd.example.yaml")
    assert (example.returncode, example.stderr) == (0, ""), "the example configuration is fine"


def test_a_configuration_that_is_not_there_is_named(stage):
    missing = stage.run(stage.args.tautd, "--config", stage.dir / "nowhere.yaml")
    assert missing.returncode == 2 and "nowhere.yaml" in missing.stderr, "a configuration that is not there exits with 2 and is named"


class TestTokens:
    """Permissions of tokens; and no token is ever written to the log or returned by the API."""

    def test_health_alone_needs_no_token(self, stage, story):
        config = (f"server:\n  tokens:\n    reader_file: {stage.file('readers', READER)}\n"
                  f"    writer_file: {stage.file('writers', WRITER + ' prometheus' + chr(10))}\n"
                  f"    operator_file: {stage.file('operators', '# of the test' + chr(10) + OPERATOR + chr(10))}\n")
        checked = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("tokens.yaml", config))
        assert (checked.returncode, checked.stderr) == (0, ""), "token files with a comment are read"
        story.tautd = stage.tautd("--clock", "samples", config=config)
        now = time.time()
        story.body = daemon.write_body([({"__name__": "container_memory_working_set_bytes", "namespace": "a", "pod": "b-0", "container": "c"},
                                   [(now - 1200 + 15 * i, 5e8) for i in range(80)])])
        story.guess = "guessed-0123456789abcdef01234567"
        story.patch = dict(method="PATCH", body='{"mode": "auto"}')
        assert story.tautd.ask("/healthz").status == 200, "/healthz needs no token"
        for path in ("/api/v1/fleet", "/metrics", "/"):
            assert story.tautd.ask(path).status == 401, f"{path} without a token: 401"
        assert story.tautd.ask("/api/v1/fleet", token=story.guess).status == 401, "a wrong token: 401"

    def test_readers_read_and_writers_write_alone(self, story):
        assert story.tautd.ask("/api/v1/fleet", token=READER).status == 200, "a reader reads"
        assert daemon.write(story.tautd.port, story.body).status == 401, "remote write without a token: 401"
        assert daemon.write(story.tautd.port, story.body, READER).status == 403, "remote write of a reader: 403"
        assert daemon.write(story.tautd.port, story.body, OPERATOR).status == 204, "remote write of an operator: 204"
        assert daemon.write(story.tautd.port, story.body, WRITER).status == 204, "remote write of a writer: 204"
        for path in ("/api/v1/fleet", "/api/v1/jobs", "/api/v1/events", "/metrics", "/", "/api/v1/openapi.yaml"):
            assert story.tautd.ask(path, token=WRITER).status == 403, f"{path} of a writer: 403"

    def test_operators_alone_change_settings(self, story):
        known = daemon.eventually(lambda: story.tautd.get("/api/v1/jobs", token=READER)["total"] == 1, 20)
        assert known, "its job is there"
        job = f"/api/v1/jobs/{daemon.quoted(story.tautd.get('/api/v1/jobs', token=READER)['jobs'][0]['name'])}"
        story.settings = f"{job}/settings"
        assert story.tautd.ask(story.settings, **story.patch).status == 401, "PATCH without a token: 401"
        assert story.tautd.ask(story.settings, token=WRITER, **story.patch).status == 403, "PATCH of a writer: 403"
        assert story.tautd.ask(story.settings, token=READER, **story.patch).status == 403, "PATCH of a reader: 403"
        assert story.tautd.ask(story.settings, token=OPERATOR, **story.patch).status == 200, "PATCH of an operator: 200"
        assert story.tautd.ask(f"{job}/whatif", token=READER, method="POST", body="{}").status == 200, "what-if of a reader: 200"

    def test_no_token_is_in_the_log_or_told_by_the_api(self, stage, story):
        told = [story.tautd.ask(p, token=OPERATOR).text for p in ("/api/v1/settings", "/api/v1/status", "/metrics", story.settings)]
        short = stage.run(stage.args.tautd, "--store", "memory", "--listen", "127.0.0.1:0", "--config",
                          stage.file("short.yaml", f"server: {{tokens: {{reader_file: {stage.file('s', 'sesame12')}}}}}\n"),
                          seconds=20)
        assert short.returncode in (1, 2) and "16" in short.stderr, "a short token is refused"
        assert story.tautd.stop() == 0, "it stops"
        said = story.tautd.output()
        assert said and not any(t in said for t in (READER, WRITER, OPERATOR, story.guess)), f"no token in the log: {said}"
        assert "sesame12" not in short.stderr, "nor a token that is refused"
        assert not any(t in text for text in told for t in (READER, OPERATOR)), "the API shows no token"


@pytest.mark.settings("server: {limits: {idle: 2s, body_time: 2s}}\n")
def test_slow_clients_are_cut_while_others_are_answered(tautd):
    """Requests that never end are cut off, while others are served."""
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
        assert daemon.answers(tautd.port, "/healthz"), "others are answered meanwhile"
    for kind in kinds:
        assert kind in cut, f"a client that is slow with its {kind} is cut"
    metrics = tautd.ask("/metrics").text
    counted = [line for line in metrics.splitlines() if line.startswith("tautd_http_clients_cut_total ")]
    assert counted and float(counted[0].split()[1]) >= 2, "/metrics counts them"


def rules(mode):
    return f"clock: samples\nrules:\n  - {{name: mine, match: {{job: '*'}}, set: {{mode: {mode}}}}}\n"


def mode_of(tautd):
    """Returns the mode of its first job."""
    job = tautd.get("/api/v1/jobs")["jobs"][0]["name"]
    return next(v["value"] for v in tautd.get(f"/api/v1/jobs/{daemon.quoted(job)}/settings")["values"] if v["key"] == "mode")


class TestReload:
    """HUP loads new rules and keeps the old ones if the file is invalid; TERM is fast, and so is the next start."""

    def test_hup_takes_new_rules(self, stage, story):
        story.store = stage.dir / "reload.db"
        story.tautd = stage.tautd(config=rules("observe"), store=story.store)
        story.path = story.tautd.config
        stage.feed_history(story.tautd, "30h", "--jobs", "20")
        assert mode_of(story.tautd) == "observe", "the mode is that of the rules"
        story.path.write_text(rules("auto"))
        story.tautd.popen.send_signal(signal.SIGHUP)
        assert daemon.eventually(lambda: mode_of(story.tautd) == "auto", 10), f"HUP: the new rules are in force: {mode_of(story.tautd)}"

    def test_hup_with_a_broken_file_keeps_the_rules(self, story):
        before = len(story.tautd.output())
        story.path.write_text(rules("sideways"))
        story.tautd.popen.send_signal(signal.SIGHUP)
        assert daemon.eventually(lambda: "sideways" in story.tautd.output()[before:], 10), (
            f"HUP with a broken file: the log says what is wrong: {story.tautd.output()[before:]}")
        assert mode_of(story.tautd) == "auto", "and the old rules stay"
        assert story.tautd.running() and daemon.answers(story.tautd.port, "/readyz"), "and it stays ready"

    def test_hup_takes_a_mended_file(self, story):
        story.path.write_text(rules("off"))
        story.tautd.popen.send_signal(signal.SIGHUP)
        assert daemon.eventually(lambda: mode_of(story.tautd) == "off", 10), f"HUP with a mended file is taken again: {mode_of(story.tautd)}"

    def test_an_end_and_a_start_are_quick_and_lose_nothing(self, stage, story):
        jobs = story.tautd.get("/api/v1/jobs?limit=1000&sort=name")["total"]
        decisions = story.tautd.get("/api/v1/decisions?limit=1000")["decisions"]
        stopped = time.monotonic()
        assert story.tautd.stop() == 0, "TERM ends it with exit code 0"
        print(f"      it took {time.monotonic() - stopped:.2f} s to end")
        asked = time.monotonic()
        again = stage.tautd(config=rules("off"), store=story.store)
        print(f"      the second start took {time.monotonic() - asked:.2f} s")
        assert again.get("/api/v1/jobs?limit=1000&sort=name")["total"] == jobs, "with the same jobs"
        kept = {d["id"]: d for d in again.get("/api/v1/decisions?limit=1000")["decisions"]}
        assert decisions and all(kept.get(d["id"]) == d for d in decisions), f"and the same {len(decisions)} decisions: {len(kept)}"
        assert again.stop(sig=signal.SIGINT) == 0, "INT ends it too"


def test_two_daemons_share_neither_store_nor_port(stage):
    """Two daemons on one store, or on one port, would damage each other's data, so the second one refuses to start."""
    store = stage.dir / "one.db"
    first = stage.tautd(store=store)
    port_taken = stage.run(stage.args.tautd, "--listen", f"127.0.0.1:{first.port}", "--store", "memory", seconds=20)
    assert port_taken.returncode == 1 and str(first.port) in port_taken.stderr, "a port that is taken ends it with 1, and it says which"
    with pytest.raises(RuntimeError, match=r"(?s)ended with 1.*one\.db"):
        stage.tautd(store=store, seconds=15)
    assert daemon.answers(first.port, "/readyz"), "the first goes on"
