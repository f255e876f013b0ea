#!/usr/bin/env python3
"""tautd's webhook with the example's receiver: signed orders, each applied once, also over stops of either.

The receiver is examples/webhook_receiver.py; what it applied is in its file. In between it is down, tautd is stopped
and killed, and the receiver's program fails for some time.
"""
import importlib.util
import json
import pathlib
import re
import signal
import time

import daemon

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECEIVER = ROOT / "examples" / "webhook_receiver.py"
SECRET = "webhook-0123456789abcdef"


class Receiver:
    """The example, which is started and killed on one port."""

    def __init__(self, stage):
        self.stage, self.port = stage, daemon.free_port()
        self.state = stage.dir / "orders.jsonl"
        self.secret = stage.file("webhook-secret", SECRET + "\n")
        self.busy = stage.dir / "busy"
        self.command = stage.file("apply", f"#!/bin/sh\ncat > /dev/null\n[ ! -e {self.busy} ] || {{ echo busy >&2; exit 75; }}\n"
                                  "echo limit set\n")
        self.command.chmod(0o755)
        self.process = None

    def start(self):
        self.process = self.stage.start("receiver", ["python3", RECEIVER, "--secret-file", self.secret, "--state", self.state,
                                                     "--port", self.port, "--command", self.command],
                                        lambda p: "listening" in p.output())

    def kill(self):
        self.process.kill()

    def applied(self):
        if not self.state.exists():
            return []
        return [json.loads(line) for line in self.state.read_text().splitlines()]

    def decisions(self):
        return [r["order"]["decision"] for r in self.applied()]


def config_of(receiver):
    return f"""clock: samples
log: {{format: json}}
webhook: {{url: "http://127.0.0.1:{receiver.port}/orders?from=test", secret_file: {receiver.secret}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""


def decisions(tautd):
    found = tautd.get("/api/v1/decisions?limit=1000")["decisions"]
    return {d["id"]: d for d in found if d["kind"] != "would_set"}


def settled(tautd):
    """No decision waits for its outcome."""
    return daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(tautd).values()), 60)


def set_mode(stage, tautd, job, mode):
    answer = tautd.ask(f"/api/v1/jobs/{daemon.quoted(job)}/settings", "PATCH", json.dumps({"mode": mode}))
    stage.equal(answer.status, 200, f"mode {mode} is set")


def released(tautd, job):
    """The decisions that give the job's limits back."""
    return daemon.eventually(
        lambda: [d for d in decisions(tautd).values() if d["job"] == job and d["kind"] == "release"], 20)


def value(tautd, name):
    found = re.search(rf"^{re.escape(name)} (\S+)", tautd.ask("/metrics").text, re.M)
    return float(found.group(1)) if found else None


def orders_arrive(stage, tautd, receiver):
    stage.check(settled(tautd), "each decision has an outcome")
    all_of = decisions(tautd)
    applied = {r["order"]["decision"]: r["order"] for r in receiver.applied()}
    good = [d for d in all_of.values() if d["outcome"] == "applied"]
    stage.check(good and {d["id"] for d in good} <= set(applied), "what is applied was received", len(good))
    wrong = [d for d in good if (applied[d["id"]]["job"], applied[d["id"]]["target"], applied[d["id"]]["value"]) !=
             (d["job"], d["target"], d["after"])]
    stage.check(not wrong, "with the job, target and value of the decision", wrong[:2])
    stage.equal({d["outcome_text"] for d in good}, {"limit set"}, "its message is the outcome's text")
    others = {d["outcome"] for d in all_of.values()} - {"applied", "superseded"}
    stage.equal(others, set(), "the rest was replaced by newer decisions")
    listed = stage.run(stage.args.taut, "decisions", "--limit", "1000", "--server", f"http://127.0.0.1:{tautd.port}")
    stage.check(listed.returncode == 0 and "limit set" in listed.stdout, "taut decisions shows it",
                listed.stdout[-300:] + listed.stderr)
    stage.check(value(tautd, 'tautd_webhook_requests_total{result="applied"}') >= len(good), "/metrics counts requests")
    stage.equal(value(tautd, "tautd_webhook_orders_waiting"), 0, "and none waits")


def delivered_once(stage, tautd, receiver, jobs, how, restart):
    """Limits are given back while the receiver is down; `restart` ends tautd in between."""
    receiver.kill()
    for job in jobs:
        set_mode(stage, tautd, job, "observe")
    waiting = [d["id"] for job in jobs for d in released(tautd, job)]
    stage.check(waiting and not set(waiting) & set(receiver.decisions()), f"{how}: orders wait", waiting)
    stage.check(daemon.eventually(lambda: value(tautd, 'tautd_webhook_requests_total{result="no_response"}'), 20),
                "requests without a response are counted")
    stage.check(daemon.eventually(lambda: '"webhook_failed"' in tautd.output(), 10), "and the log has a line of it",
                tautd.output()[-500:])
    stage.check(all(decisions(tautd)[d]["outcome"] == "pending" for d in waiting), "their decisions are pending")
    tautd = restart(tautd)
    receiver.busy.touch()
    receiver.start()
    stage.check(daemon.eventually(lambda: value(tautd, 'tautd_webhook_requests_total{result="no_response"}'), 60),
                "a receiver that answers 503 is asked again")
    receiver.busy.unlink()
    stage.check(settled(tautd), "all have an outcome after it recovered", decisions(tautd))
    found = decisions(tautd)
    stage.equal({found[d]["outcome"] for d in waiting}, {"applied"}, "they are applied")
    got = [r["order"] for r in receiver.applied() if r["order"]["decision"] in waiting]
    stage.check(len(got) == len(waiting) and all(o["value"] is None for o in got),
                "each was received once, and is the owner's value", got)
    return tautd


def receiver_checks(stage, receiver):
    """What the example does not accept; a repeated key gets the first response."""
    spec = importlib.util.spec_from_file_location("webhook_receiver", RECEIVER)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    before = len(receiver.applied())
    body = b'{"version":1,"decision":1,"job":"a","target":"cpu","unit":"cores","value":2}'

    def post(key, at, text=body, signed=body, secret=SECRET):
        headers = {"Idempotency-Key": key, "Tautline-Timestamp": str(at),
                   "Tautline-Signature": example.signature(secret.encode(), str(at), signed)}
        return daemon.ask(receiver.port, "/orders", "POST", text, headers).status

    now = int(time.time())
    stage.equal(post("x-1", now, secret="guess"), 401, "another secret: 401")
    stage.equal(post("x-1", now, text=body.replace(b"2}", b"9}")), 401, "another body than the signed one: 401")
    stage.equal(post("x-1", now - 3600), 401, "an old timestamp: 401")
    stage.equal(post("", now), 400, "no idempotency key: 400")
    stage.equal(len(receiver.applied()), before, "nothing of it was applied")
    stage.equal((post("x-1", now), post("x-1", now + 1)), (200, 200), "a key that is repeated gets the same response")
    stage.equal(len(receiver.applied()), before + 1, "and is applied once")


def config_errors(stage):
    secret = stage.file("good-secret", SECRET)
    cases = (("url: 'ftp://host/x'", "URL"), ("url: 'https://anna:geheim@host/x', secret_file: %s" % secret, "password"),
             ("url: 'http://127.0.0.1:1/'", "webhook.secret_file is empty"),
             ("url: 'http://127.0.0.1:1/', secret_file: /nowhere/secret", "/nowhere/secret"),
             ("url: 'https://host/', secret_file: %s, ca_file: /nowhere.pem" % secret, "/nowhere.pem"))
    for text, wanted in cases:
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", f"webhook: {{{text}}}\n"))
        stage.check(ended.returncode == 2 and wanted in ended.stderr and "geheim" not in ended.stderr,
                    f"--check-config of {text.split(',')[0]}: {wanted}", ended.stderr)
    plain = stage.run(stage.args.tautd, "--check-config", "--config",
                      stage.file("plain.yaml", f"webhook: {{url: 'http://10.0.0.1/', secret_file: {secret}}}\n"))
    stage.check(plain.returncode == 0 and "plain http" in plain.stderr, "plain http to another machine: a warning",
                plain.stderr)


def main():
    with daemon.Stage(daemon.arguments(__doc__.splitlines()[0])) as stage:
        config_errors(stage)
        receiver = Receiver(stage)
        receiver.start()
        config, store = config_of(receiver), stage.dir / "tautd.db"
        tautd = stage.tautd(config=config, store=store)
        stage.feed_history(tautd, "30h", "--jobs", "12")
        orders_arrive(stage, tautd, receiver)

        limited = sorted({d["job"] for d in decisions(tautd).values() if d["outcome"] == "applied"})
        stage.check(len(limited) >= 4, "several jobs have limits", limited)

        def killed(running):
            running.stop(signal.SIGKILL)
            return stage.tautd(config=config, store=store)

        def stopped(running):
            stage.equal(running.stop(), 0, "it stops while an order waits")
            return stage.tautd(config=config, store=store)

        tautd = delivered_once(stage, tautd, receiver, limited[:2], "kill", killed)
        tautd = delivered_once(stage, tautd, receiver, limited[2:4], "stop", stopped)
        applied = receiver.applied()
        stage.equal(len({r["key"] for r in applied}), len(applied), "no key was applied twice")
        stage.equal(len(set(receiver.decisions())), len(applied), "no decision arrived under two keys")
        stage.equal(len({r["key"].rpartition("-")[0] for r in applied}), 1, "all keys begin the same over restarts")
        stage.check(SECRET not in tautd.output(), "the secret is not in the log")
        receiver_checks(stage, receiver)
    stage.finish()


if __name__ == "__main__":
    main()
