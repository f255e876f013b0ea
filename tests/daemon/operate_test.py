#!/usr/bin/env python3
"""What operates tautd: its log of acts, SIGHUP, notifications, strangers that fill it with connections, and its metrics."""
import hashlib
import hmac
import http.server
import json
import re
import shutil
import signal
import socket
import threading

import daemon

OPERATOR, READER = "operator-0123456789abcdef012345678", "reader-0123456789abcdef0123456789"
SECRET = "notification-secret"


class Receiver:
    """A webhook of somebody: refuses the first request, keeps the rest."""

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

    def events(self):
        return [e for _, body in self.got for e in json.loads(body)["events"]]


def lines(tautd, **wanted):
    """The log's acts with these members."""
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


def start(stage, receiver):
    stage.file("token", OPERATOR)
    stage.file("operators", OPERATOR + " anna\n")
    stage.file("readers", READER + "\n")
    stage.file("agents", "agents-0123456789abcdef\n")
    tautd = stage.tautd(config=config_of(stage, receiver))
    stage.feed_history(tautd, "30h", "--jobs", "20", "--ooms", "--token-file", stage.dir / "token", token=OPERATOR)
    return tautd


def acts(stage, tautd, receiver):
    job = tautd.get("/api/v1/jobs", token=OPERATOR)["jobs"][0]["name"]
    tautd.ask(f"/api/v1/jobs/{daemon.quoted(job)}/settings?who=bob", "PATCH", '{"memory.upper": "4GiB"}', token=OPERATOR)
    changed = lines(tautd, action="setting_changed")
    stage.check(changed and changed[-1]["who"] == "anna (says bob)" and (changed[-1]["job"], changed[-1]["key"]) ==
                (job, "memory.upper"), "a setting is a line of the log, with who", changed[-1:])
    decided = [d for d in tautd.get("/api/v1/decisions?limit=1000", token=OPERATOR)["decisions"] if d["kind"] != "would_set"]
    logged = {a["decision"]: a for prefix in ("", "dry_run_") for name in ("limit_set", "limit_tried", "limit_promoted", "limit_rolled_back",
                                            "limit_raised_after_oom", "limit_released") for a in lines(tautd, action=prefix + name)}
    stage.check(decided and all(d["id"] in logged for d in decided), "each decision that does something is one",
                (len(decided), len(logged)))
    same = [d for d in decided if (logged[d["id"]]["job"], logged[d["id"]]["resource"]) != (d["job"], d["resource"])]
    stage.check(not same, "with its job and resource", same[:3])
    kills = sum(o["kills"] for o in tautd.get("/api/v1/ooms?limit=1000", token=OPERATOR)["ooms"])
    stage.equal(sum(a["kills"] for a in lines(tautd, action="oom_kill")), kills, "each OOM kill is counted in one")
    broken = [line for line in tautd.output().splitlines() if not line.startswith("{")]
    stage.check(not broken, "log.format json: every line is an object", broken[:3])

    lowered = [d for d in decided if d["kind"] != "roll_back" and d["after"] is not None and
               (d["before"] is None or d["after"] < d["before"])]

    def told(event):
        return [e for e in receiver.events() if e["event"] == event]

    stage.check(daemon.eventually(lambda: len(told("limit_lowered")) >= min(len(lowered), 1), 30), "a lower limit is notified")
    stage.equal(receiver.refused, 1, "a notification that was refused is sent again")
    for headers, body in receiver.got:
        wanted = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        if headers["X-Tautline-Signature"] != wanted or json.loads(body)["cell"] != "test cell":
            stage.check(False, "notifications are signed and name the cell", (headers, body[:200]))
            break
    stage.check(not told("setting_changed"), "only the events that are wanted")


def reload(stage, tautd, receiver):
    def hup(until, what):
        before = len(lines(tautd, action="configuration_reloaded"))
        tautd.popen.send_signal(signal.SIGHUP)
        stage.check(daemon.eventually(lambda: len(lines(tautd, action="configuration_reloaded")) > before and until(), 20), what,
                    tautd.output()[-1500:])

    def status(token):
        return tautd.ask("/api/v1/status", token=token).status

    fresh = "another-0123456789abcdef01234567"
    stage.file("readers", fresh + "\n")
    hup(lambda: status(fresh) == 200, "HUP: a new token counts")
    stage.equal((status(READER), status(OPERATOR)), (401, 200), "an old one does no more, others stay")
    stage.check(not lines(tautd, action="agents_port_reopened"), "the agents' port stays as long as its files do")
    stage.file("readers", "short\n")
    hup(lambda: lines(tautd, action="reload_failed"), "HUP with a token that is too short: the log says so")
    stage.equal(status(fresh), 200, "and the tokens stay as they were")
    stage.file("readers", fresh + "\n")
    port = tautd.config.read_text()
    stage.file("agents", "others-0123456789abcdef\n")
    hup(lambda: lines(tautd, action="agents_port_reopened"), "HUP: new tokens of agents open their port anew")
    tautd.config.write_text(port.replace("connections: 40", "connections: 41").replace("log: {format: json, level: debug}", "log: {format: text, level: debug}")
                            + "store: {history_days: 7}\ningest: {mapping: [{name: x, metric: y, kind: cpu_cores, job: a, task: b}]}\n")
    hup(lambda: True, "HUP with keys that need a restart")
    wanted = {"server.limits.connections", "log.format", "store.history_days", "ingest.mapping"}

    def named():
        return {a["key"] for a in lines(tautd, action="restart_needed")}

    daemon.eventually(lambda: named() == wanted, 20)
    stage.equal(named(), wanted, "each of them is named")
    said = tautd.output()
    stage.check(not any(t in said for t in (OPERATOR, READER, fresh, SECRET)), "no secret in the log")
    tautd.config.write_text(port)


def strangers(stage, tautd):
    """More idle connections than there is room for keep nobody out who has a token."""
    kept = [socket.create_connection(("127.0.0.1", tautd.port), timeout=10) for _ in range(200)]
    for s in kept[::2]:
        s.sendall(b"GET /api/v1/fleet HTTP/1.1\r\nHost: localhost\r\n")
    for n in range(5):
        answer = tautd.ask("/api/v1/fleet", token=OPERATOR)
        if not stage.equal(answer.status, 200, f"200 idle connections on room for 40: request {n} is answered"):
            break
    text = tautd.ask("/metrics", token=OPERATOR).text
    displaced = re.search(r"^tautd_http_connections_displaced_total (\d+)", text, re.M)
    stage.check(displaced and int(displaced.group(1)) >= 160, "/metrics counts those that made room", displaced)
    for s in kept:
        s.close()


def metrics(stage, tautd):
    text = tautd.ask("/metrics", token=OPERATOR).text
    for name in ("tautd_http_request_duration_seconds_bucket", "process_cpu_seconds_total", "process_resident_memory_bytes",
                 "process_open_fds", "process_max_fds", "process_start_time_seconds", "tautd_notifications_delivered_total",
                 "tautd_http_accept_failures_total"):
        stage.check(re.search(rf"^{name}[{{ ]", text, re.M), f"/metrics has {name}")
    heads, samples = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            stage.check(name not in heads, f"{name} has one TYPE") if name in heads else None
            heads[name] = kind
        elif not line.startswith("#"):
            key, value = line.rsplit(" ", 1)
            float(value)
            stage.check(key not in samples, f"{key} stands once") if key in samples else None
            samples[key] = value
    wrong = [n for n, kind in heads.items() if kind == "counter" and not n.endswith("_total")]
    stage.check(not wrong, "counters end in _total", wrong)
    promtool = shutil.which("promtool")
    if promtool is None:
        print("      promtool is not installed: its own check was left out")
        return
    path = stage.file("metrics.txt", text)
    checked = stage.run("bash", "-c", f"{promtool} check metrics < {path}")
    stage.equal((checked.returncode, checked.stdout + checked.stderr), (0, ""), "promtool check metrics has nothing to say")


def store_and_agents(stage, receiver):
    """Levels, text form, and the store's size."""
    tautd = stage.tautd(config="log: {level: debug}\n", store=stage.dir / "store.db")
    size = re.search(r"^tautd_store_size_bytes (\S+)", tautd.ask("/metrics").text, re.M)
    stage.check(size and float(size.group(1)) > 0, "/metrics has the store's size", size)
    for text, wanted in (("log: {level: loud}", "debug, info, warning or error"), ("log: {format: xml}", "text or json"),
                         ("notify: {url: 'http://x', events: [oom]}", "oom_kill"), ("notify: {url: 'ftp://x'}", "http")):
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", text))
        stage.check(ended.returncode == 2 and wanted in ended.stderr, f"--check-config of {text}: what is allowed", ended.stderr)
    stage.equal(tautd.stop(), 0, "it stops")


def main():
    with daemon.Stage(daemon.arguments(__doc__)) as stage:
        receiver = Receiver()
        tautd = start(stage, receiver)
        acts(stage, tautd, receiver)
        reload(stage, tautd, receiver)
        strangers(stage, tautd)
        metrics(stage, tautd)
        stage.equal(tautd.stop(), 0, "it stops as told")
        store_and_agents(stage, receiver)
    stage.finish()


if __name__ == "__main__":
    main()
