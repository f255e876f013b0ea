"""tautd's webhook with the example receiver: signed orders, each applied once, also across stops of either.

The receiver is examples/webhook_receiver.py, and its file lists the applied orders. In between it is down, tautd is stopped
and killed, and the receiver's program fails for some time.
"""
import importlib.util
import json
import pathlib
import signal
import time

import daemon

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECEIVER = ROOT / "examples" / "webhook_receiver.py"
SECRET = "webhook-0123456789abcdef"


class Receiver:
    """The example receiver, which is started and killed on one port."""

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
    """Returns whether no decision waits for its outcome."""
    return daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(tautd).values()), 60)


def set_mode(stage, tautd, job, mode):
    answer = tautd.ask(f"/api/v1/jobs/{daemon.quoted(job)}/settings", "PATCH", json.dumps({"mode": mode}))
    assert answer.status == 200, f"mode {mode} is set"


def released(tautd, job):
    """Returns the decisions that release the job's limits."""
    return daemon.eventually(
        lambda: [d for d in decisions(tautd).values() if d["job"] == job and d["kind"] == "release"], 20)


def delivered_once(stage, tautd, receiver, jobs, how, restart):
    """Limits are released while the receiver is down; `restart` stops tautd in between, and returns another one."""
    receiver.kill()
    for job in jobs:
        set_mode(stage, tautd, job, "observe")
    waiting = [d["id"] for job in jobs for d in released(tautd, job)]
    assert waiting and not set(waiting) & set(receiver.decisions()), f"{how}: orders wait"
    assert daemon.eventually(lambda: daemon.metric(tautd, 'tautd_webhook_requests_total{result="no_response"}'), 20), (
        "requests without a response are counted")
    assert daemon.eventually(lambda: '"webhook_failed"' in tautd.output(), 10), f"and the log has a line of it: {tautd.output()[-500:]}"
    assert all(decisions(tautd)[d]["outcome"] == "pending" for d in waiting), "their decisions are pending"
    tautd = restart(tautd)
    receiver.busy.touch()
    receiver.start()
    assert daemon.eventually(lambda: daemon.metric(tautd, 'tautd_webhook_requests_total{result="no_response"}'), 60), (
        "a receiver that answers 503 is asked again")
    receiver.busy.unlink()
    assert settled(tautd), f"all have an outcome after it recovered: {decisions(tautd)}"
    found = decisions(tautd)
    assert {found[d]["outcome"] for d in waiting} == {"applied"}, "they are applied"
    got = [r["order"] for r in receiver.applied() if r["order"]["decision"] in waiting]
    assert len(got) == len(waiting) and all(o["value"] is None for o in got), f"each was received once, and is the owner's value: {got}"
    return tautd


def test_check_config_names_what_is_wrong(stage):
    secret = stage.file("good-secret", SECRET)
    cases = (("url: 'ftp://host/x'", "URL"), ("url: 'https://anna:geheim@host/x', secret_file: %s" % secret, "password"),
             ("url: 'http://127.0.0.1:1/'", "webhook.secret_file is empty"),
             ("url: 'http://127.0.0.1:1/', secret_file: /nowhere/secret", "/nowhere/secret"),
             ("url: 'https://host/', secret_file: %s, ca_file: /nowhere.pem" % secret, "/nowhere.pem"))
    for text, wanted in cases:
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", f"webhook: {{{text}}}\n"))
        assert ended.returncode == 2 and wanted in ended.stderr and "geheim" not in ended.stderr, f"--check-config of {text.split(',')[0]}: {wanted}"


def test_check_config_warns_of_plain_http_to_another_machine(stage):
    secret = stage.file("good-secret", SECRET)
    plain = stage.run(stage.args.tautd, "--check-config", "--config",
                      stage.file("plain.yaml", f"webhook: {{url: 'http://10.0.0.1/', secret_file: {secret}}}\n"))
    assert plain.returncode == 0 and "plain http" in plain.stderr, "plain http to another machine: a warning"


def test_each_decision_has_an_outcome(stage, story):
    story.receiver = Receiver(stage)
    story.receiver.start()
    story.config, story.store = config_of(story.receiver), stage.dir / "tautd.db"
    story.tautd = stage.tautd(config=story.config, store=story.store)
    stage.feed_history(story.tautd, "30h", "--jobs", "12")
    assert settled(story.tautd), "each decision has an outcome"


def test_what_is_applied_was_received(story):
    all_of = decisions(story.tautd)
    applied = {r["order"]["decision"]: r["order"] for r in story.receiver.applied()}
    story.good = [d for d in all_of.values() if d["outcome"] == "applied"]
    assert story.good and {d["id"] for d in story.good} <= set(applied), f"what is applied was received: {len(story.good)}"
    wrong = [d for d in story.good if (applied[d["id"]]["job"], applied[d["id"]]["target"], applied[d["id"]]["value"]) !=
             (d["job"], d["target"], d["after"])]
    assert not wrong, f"with the job, target and value of the decision: {wrong[:2]}"
    assert {d["outcome_text"] for d in story.good} == {"limit set"}, "its message is the outcome's text"
    others = {d["outcome"] for d in all_of.values()} - {"applied", "superseded"}
    assert others == set(), "the rest was replaced by newer decisions"


def test_taut_decisions_and_metrics_show_it(stage, story):
    listed = stage.taut(story.tautd, "get", "decisions", "--limit", "1000")
    assert listed.returncode == 0 and "limit set" in listed.stdout, f"taut get decisions shows it: {listed.stdout[-300:] + listed.stderr}"
    assert daemon.metric(story.tautd, 'tautd_webhook_requests_total{result="applied"}') >= len(story.good), "/metrics counts requests"
    assert daemon.metric(story.tautd, "tautd_webhook_orders_waiting") == 0, "and none waits"


def test_orders_are_delivered_once_over_a_kill(stage, story):
    story.limited = sorted({d["job"] for d in decisions(story.tautd).values() if d["outcome"] == "applied"})
    assert len(story.limited) >= 4, "several jobs have limits"

    def killed(running):
        running.stop(signal.SIGKILL)
        return stage.tautd(config=story.config, store=story.store)

    story.tautd = delivered_once(stage, story.tautd, story.receiver, story.limited[:2], "kill", killed)


def test_orders_are_delivered_once_over_a_stop(stage, story):
    def stopped(running):
        assert running.stop() == 0, "it stops while an order waits"
        return stage.tautd(config=story.config, store=story.store)

    story.tautd = delivered_once(stage, story.tautd, story.receiver, story.limited[2:4], "stop", stopped)


def test_keys_are_of_one_decision_each(story):
    applied = story.receiver.applied()
    assert len({r["key"] for r in applied}) == len(applied), "no key was applied twice"
    assert len(set(story.receiver.decisions())) == len(applied), "no decision arrived under two keys"
    assert len({r["key"].rpartition("-")[0] for r in applied}) == 1, "all keys begin the same over restarts"


def test_the_secret_is_not_in_the_log(story):
    assert SECRET not in story.tautd.output(), "the secret is not in the log"


def test_the_example_refuses_what_is_not_signed_and_repeats_its_response(story):
    spec = importlib.util.spec_from_file_location("webhook_receiver", RECEIVER)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    before = len(story.receiver.applied())
    body = b'{"version":1,"decision":1,"job":"a","target":"cpu","unit":"cores","value":2}'

    def post(key, at, text=body, signed=body, secret=SECRET):
        headers = {"Idempotency-Key": key, "Tautline-Timestamp": str(at),
                   "Tautline-Signature": example.signature(secret.encode(), str(at), signed)}
        return daemon.ask(story.receiver.port, "/orders", "POST", text, headers).status

    now = int(time.time())
    assert post("x-1", now, secret="guess") == 401, "another secret: 401"
    assert post("x-1", now, text=body.replace(b"2}", b"9}")) == 401, "another body than the signed one: 401"
    assert post("x-1", now - 3600) == 401, "an old timestamp: 401"
    assert post("", now) == 400, "no idempotency key: 400"
    assert len(story.receiver.applied()) == before, "nothing of it was applied"
    assert (post("x-1", now), post("x-1", now + 1)) == (200, 200), "a key that is repeated gets the same response"
    assert len(story.receiver.applied()) == before + 1, "and is applied once"
