"""Operation of tautd: its log of acts, SIGHUP, notifications, strangers that open many connections, and its metrics."""
import hashlib
import hmac
import http.server
import json
import re
import signal
import socket
import threading

import pytest

import daemon

OPERATOR, READER = "operator-0123456789abcdef012345678", "reader-0123456789abcdef0123456789"
SECRET = "notification-secret"


class Receiver:
    """A third party's webhook: it refuses the first request and stores the others."""

    def __init__(self):
        receiver = self
        self.got, self.refused = [], 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if not receiver.refused:
                    receiver.refused = 1
                    self.send_response(500)
                else:
                    receiver.got.append((dict(self.headers), body))
                    self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def told(self, event):
        return [e for _, body in self.got for e in json.loads(body)["events"] if e["event"] == event]


def lines(tautd, **wanted):
    """Returns the log's acts with these members."""
    found = []
    for line in tautd.output().splitlines():
        try:
            act = json.loads(line)
        except ValueError:
            continue
        if all(act.get(k) == v for k, v in wanted.items()):
            found.append(act)
    return found


def config_of(stage, receiver, more=""):
    return f"""clock: samples
cell: {{name: test cell}}
log: {{format: json, level: debug}}
agents: {{listen: ["127.0.0.1:0"], tokens_file: {stage.dir / "agents"}}}
server:
  limits: {{connections: 40}}
  tokens: {{reader_file: {stage.dir / "readers"}, operator_file: {stage.dir / "operators"}}}
notify: {{url: "{receiver.url}", secret_file: {stage.file("secret", SECRET)}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
{more}"""


@pytest.fixture(scope="module")
def receiver():
    return Receiver()


@pytest.fixture(scope="module")
def tautd(stage, receiver):
    stage.file("token", OPERATOR)
    stage.file("operators", OPERATOR + " anna\n")
    stage.file("readers", READER + "\n")
    stage.file("agents", "agents-0123456789abcdef\n")
    its = stage.tautd(config=config_of(stage, receiver))
    stage.feed_history(its, "30h", "--jobs", "20", "--ooms", "--token-file", stage.dir / "token", token=OPERATOR)
    yield its
    assert its.stop() == 0, "it stops as told"


def decided(tautd):
    """Returns the decisions that change something."""
    return [d for d in tautd.get("/api/v1/decisions?limit=1000", token=OPERATOR)["decisions"] if d["kind"] != "would_set"]


def test_a_setting_is_a_line_of_the_log_with_who(tautd):
    job = tautd.get("/api/v1/jobs", token=OPERATOR)["jobs"][0]["name"]
    tautd.ask(f"/api/v1/jobs/{daemon.quoted(job)}/settings?who=bob", "PATCH", '{"memory.upper": "4GiB"}', token=OPERATOR)
    changed = lines(tautd, action="setting_changed")
    assert (changed and changed[-1]["who"] == "anna (says bob)" and (changed[-1]["job"], changed[-1]["key"]) ==
                (job, "memory.upper")), f"a setting is a line of the log, with who: {changed[-1:]}"


def test_each_decision_that_does_something_is_one(tautd):
    acts = decided(tautd)
    logged = {a["decision"]: a for prefix in ("", "dry_run_") for name in ("limit_set", "limit_tried", "limit_promoted", "limit_rolled_back",
                                            "limit_raised_after_oom", "limit_released") for a in lines(tautd, action=prefix + name)}
    assert acts and all(d["id"] in logged for d in acts), f"each decision that does something is one: {(len(acts), len(logged))}"
    same = [d for d in acts if (logged[d["id"]]["job"], logged[d["id"]]["resource"]) != (d["job"], d["resource"])]
    assert not same, f"with its job and resource: {same[:3]}"


def test_each_kill_is_counted_in_one(tautd):
    kills = sum(o["kills"] for o in tautd.get("/api/v1/ooms?limit=1000", token=OPERATOR)["ooms"])
    assert sum(a["kills"] for a in lines(tautd, action="oom_kill")) == kills, "each OOM kill is counted in one"


def test_every_line_of_a_json_log_is_an_object(tautd):
    broken = [line for line in tautd.output().splitlines() if not line.startswith("{")]
    assert not broken, f"log.format json: every line is an object: {broken[:3]}"


def test_a_lower_limit_is_notified_signed_and_again_where_it_was_refused(tautd, receiver):
    lowered = [d for d in decided(tautd) if d["kind"] != "roll_back" and d["after"] is not None and
               (d["before"] is None or d["after"] < d["before"])]
    assert daemon.eventually(lambda: len(receiver.told("limit_lowered")) >= min(len(lowered), 1), 30), "a lower limit is notified"
    assert receiver.refused == 1, "a notification that was refused is sent again"
    for headers, body in receiver.got:
        wanted = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        assert headers["X-Tautline-Signature"] == wanted and json.loads(body)["cell"] == "test cell", (
            f"notifications are signed and name the cell: {(headers, body[:200])}")
    assert not receiver.told("setting_changed"), "only the events that are wanted"


def hup(tautd, until, what):
    before = len(lines(tautd, action="configuration_reloaded"))
    tautd.popen.send_signal(signal.SIGHUP)
    assert daemon.eventually(lambda: len(lines(tautd, action="configuration_reloaded")) > before and until(), 20), f"{what}: {tautd.output()[-1500:]}"


def status(tautd, token):
    return tautd.ask("/api/v1/status", token=token).status


class TestReload:
    def test_hup_takes_new_tokens(self, stage, story, tautd):
        story.fresh = "another-0123456789abcdef01234567"
        stage.file("readers", story.fresh + "\n")
        hup(tautd, lambda: status(tautd, story.fresh) == 200, "HUP: a new token counts")
        assert (status(tautd, READER), status(tautd, OPERATOR)) == (401, 200), "an old one does no more, others stay"
        assert not lines(tautd, action="agents_port_reopened"), "the agents' port stays as long as its files do"

    def test_hup_with_a_short_token_keeps_the_others(self, stage, story, tautd):
        stage.file("readers", "short\n")
        hup(tautd, lambda: lines(tautd, action="reload_failed"), "HUP with a token that is too short: the log says so")
        assert status(tautd, story.fresh) == 200, "and the tokens stay as they were"
        stage.file("readers", story.fresh + "\n")

    def test_hup_opens_the_agents_port_with_new_tokens(self, stage, story, tautd):
        story.port = tautd.config.read_text()
        stage.file("agents", "others-0123456789abcdef\n")
        hup(tautd, lambda: lines(tautd, action="agents_port_reopened"), "HUP: new tokens of agents open their port anew")

    def test_hup_names_keys_that_need_a_restart(self, story, tautd):
        tautd.config.write_text(story.port.replace("connections: 40", "connections: 41").replace("log: {format: json, level: debug}", "log: {format: text, level: debug}")
                                + "store: {history: 7d}\ningest: {mapping: [{name: x, metric: y, kind: cpu_cores, job: a, task: b}]}\n")
        hup(tautd, lambda: True, "HUP with keys that need a restart")
        wanted = {"server.limits.connections", "log.format", "store.history", "ingest.mapping"}
        named = lambda: {a["key"] for a in lines(tautd, action="restart_needed")}  # noqa: E731
        assert daemon.eventually(lambda: named() == wanted, 20), f"each of them is named: {named()}"

    def test_no_secret_is_in_the_log(self, story, tautd):
        said = tautd.output()
        assert not any(t in said for t in (OPERATOR, READER, story.fresh, SECRET)), "no secret in the log"
        tautd.config.write_text(story.port)


def test_idle_strangers_keep_nobody_out(tautd):
    """More idle connections than allowed do not block a client with a token."""
    kept = [socket.create_connection(("127.0.0.1", tautd.port), timeout=10) for _ in range(200)]
    for s in kept[::2]:
        s.sendall(b"GET /api/v1/fleet HTTP/1.1\r\nHost: localhost\r\n")
    for n in range(5):
        answer = tautd.ask("/api/v1/fleet", token=OPERATOR)
        assert answer.status == 200, f"200 idle connections on room for 40: request {n} is answered"
    text = tautd.ask("/metrics", token=OPERATOR).text
    displaced = re.search(r"^tautd_http_connections_displaced_total (\d+)", text, re.M)
    assert displaced and int(displaced.group(1)) >= 160, "/metrics counts those that made room"
    for s in kept:
        s.close()


def test_metrics_are_complete_and_well_formed(tautd):
    text = tautd.ask("/metrics", token=OPERATOR).text
    for name in ("tautd_http_request_duration_seconds_bucket", "process_cpu_seconds_total", "process_resident_memory_bytes",
                 "process_open_fds", "process_max_fds", "process_start_time_seconds", "tautd_notifications_delivered_total",
                 "tautd_http_accept_failures_total"):
        assert re.search(rf"^{name}[{{ ]", text, re.M), f"/metrics has {name}"
    heads, samples = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in heads, f"{name} has one TYPE"
            heads[name] = kind
        elif not line.startswith("#"):
            key, value = line.rsplit(" ", 1)
            float(value)
            assert key not in samples, f"{key} stands once"
            samples[key] = value
    wrong = [n for n, kind in heads.items() if kind == "counter" and not n.endswith("_total")]
    assert not wrong, "counters end in _total"


@daemon.needs("promtool")
def test_promtool_has_nothing_against_the_metrics(stage, tautd):
    path = stage.file("metrics.txt", tautd.ask("/metrics", token=OPERATOR).text)
    checked = stage.run("bash", "-c", f"promtool check metrics < {path}")
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, ""), "promtool check metrics has nothing to say"


def test_the_log_has_levels_and_a_text_form_and_the_store_a_size(stage):
    """Log levels, the text form, and the store's size."""
    tautd = stage.tautd(config="log: {level: debug}\n", store=stage.dir / "store.db")
    size = re.search(r"^tautd_store_size_bytes (\S+)", tautd.ask("/metrics").text, re.M)
    assert size and float(size.group(1)) > 0, "/metrics has the store's size"
    for text, wanted in (("log: {level: loud}", "debug, info, warning or error"), ("log: {format: xml}", "text or json"),
                         ("notify: {url: 'http://x', events: [oom]}", "oom_kill"), ("notify: {url: 'ftp://x'}", "http")):
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", text))
        assert ended.returncode == 2 and wanted in ended.stderr, f"--check-config of {text}: what is allowed"
    assert tautd.stop() == 0, "it stops"
