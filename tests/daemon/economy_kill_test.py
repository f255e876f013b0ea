"""SIGKILL at random moments while money moves, quota is requested and usage is counted: nothing is lost or counted twice.

Usage of one job in each of --groups groups is written window after window, and repeated as long as it was not
answered. Clients grant money with a key, request quota for a job each and end some of the requests, and remember the
responses. tautd is killed --kills times and restarted on the same store. In the end the account has every stored
window of every job once, the ledger has every answered grant once and no gap, and each request exists once and is no
older than its response.

    tests/daemon/economy_kill_test.py --tautd build/release/bin/tautd --taut build/release/bin/taut --kills 100 --groups 1000
"""
import http.client
import json
import random
import threading
import time
from decimal import Decimal

import daemon

OPERATOR = "operator-0123456789abcdef012345678"
LEDGER, REQUESTS = "/api/v1/budget-ledger", "/api/v1/requests"
WINDOW, STEP = 300, 60
USED, LIMIT = 0.5, 2.0  # cores of each job


def quota_of(groups):
    rows = "".join(f"  - {{name: g{i}, parent: pool, quotas: [{{tier: production, resource: cpu, nominal: 100}}]}}\n" for i in range(groups))
    return "groups:\n  - {name: pool}\n" + rows


def budgets_of(groups):
    rows = "".join(f"  - {{name: g{i}, shares: {{retail: 100%}}}}\n" for i in range(groups))
    return "currency: EUR\nperiod: year\nbusinesses:\n  - {name: retail, budget: 1000}\ngroups:\n" + rows


def config_of(stage):
    return f"""clock: samples
store: {{checkpoint_windows: 3, decisions: 400d}}
quota: {{file: {stage.dir / "quota.yaml"}}}
budgets: {{file: {stage.dir / "budgets.yaml"}, entries_per_day: 100000}}
prices: {{core_hour: 1, gib_hour: 0, currency: EUR}}
server: {{tokens: {{operator_file: {stage.file("operators", OPERATOR + " anna")}}}}}
"""


class Client(threading.Thread):
    """Calls `act` until it is ended. After a response that a kill cut off, `act` itself repeats the request."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act, self.ended, self.error = act, threading.Event(), None
        self.start()

    def run(self):
        while not self.ended.is_set():
            try:
                self.act()
            except (OSError, http.client.HTTPException, ValueError):
                self.ended.wait(0.02)
            except Exception as e:  # told by the main thread
                self.error = e
                return

    def end(self):
        self.ended.set()
        self.join(30)
        if self.error is not None:
            raise self.error


class Feeder:
    """Sends a window of all jobs after the other, and repeats each until it is answered."""

    def __init__(self, port, groups, start):
        self.port, self.groups, self.start, self.at = port, groups, start, start
        self.body, self.sent = None, 0

    def __call__(self):
        if self.body is None:
            series = []
            at = range(self.at, self.at + WINDOW, STEP)
            for i in range(self.groups):
                labels = {"namespace": f"g{i}", "pod": "app-0", "container": "app"}
                series.append(({"__name__": "container_cpu_usage_seconds_total", **labels}, [(t, USED * (t - self.start)) for t in at]))
                series.append(({"__name__": "container_spec_cpu_quota", **labels}, [(t, LIMIT * 1e5) for t in at]))
            self.body = daemon.write_body(series)
        self.sent += 1
        answer = daemon.write(self.port, self.body, OPERATOR)
        if answer.status == 204:
            self.body, self.at = None, self.at + WINDOW
        elif answer.status not in (503, 429):
            raise RuntimeError(f"a write was answered {answer.status}: {answer.text}")


class Granter:
    """Grants a cent at a time, each with a key, and repeats each until it is answered."""

    def __init__(self, port, name):
        self.port, self.name, self.number = port, name, 0
        self.answered = []  # entries
        self.repeated = 0

    def __call__(self):
        body = json.dumps({"act": "grant", "of": "retail", "amount": "0.01", "why": "kill", "key": f"{self.name}-{self.number}"})
        try:
            answer = daemon.ask(self.port, LEDGER, "POST", body, token=OPERATOR, timeout=10)
        except (OSError, http.client.HTTPException):
            self.repeated += 1
            raise
        if answer.status == 200:
            self.answered.append(answer.json()["id"])
            self.number += 1
        elif answer.status not in (404, 503):  # no period is open yet; what is spent is not read yet
            raise RuntimeError(f"a grant was answered {answer.status}: {answer.text}")


class Requester:
    """Makes a request for one job after the other, and ends every second one."""

    def __init__(self, port, name, groups):
        self.port, self.name, self.groups, self.number = port, name, groups, 0
        self.open, self.ended = {}, {}  # id: job, as answered

    def ask(self, method, path, body=None):
        return daemon.ask(self.port, path, method, None if body is None else json.dumps(body), token=OPERATOR, timeout=10)

    def __call__(self):
        job = f"{self.name}/{self.number}"
        answer = self.ask("POST", REQUESTS, {"group": f"g{self.number % self.groups}", "tier": "production", "cpu": "0.001", "job": job})
        if answer.status == 409 and "for job" in answer.text:  # it was made, and the answer cut off
            self.number += 1
            return
        if answer.status == 503:  # no window has closed yet
            return
        if answer.status != 200:
            raise RuntimeError(f"a request was answered {answer.status}: {answer.text}")
        made = answer.json()["id"]
        self.open[made] = job
        self.number += 1
        if self.number % 2 == 0 and self.ask("DELETE", f"{REQUESTS}/{made}").status == 200:
            self.ended[made] = self.open.pop(made)


def everything(tautd, path, key):
    """Returns all pages, newest first."""
    found, before = [], ""
    while True:
        page = tautd.ask(f"{path}?limit=10000{before}", token=OPERATOR, timeout=60).json()[key]
        found += page
        if len(page) < 10000:
            return found
        before = f"&before={page[-1]['id']}"


def account_is_whole(stage, tautd, feeder):
    """Checks that each stored window counts each job once; the limits are constant, so the sum is known. A kill loses the samples of the
    current tick, which here are the samples of some windows."""
    def ask(path):
        return tautd.ask(path, token=OPERATOR, timeout=60).json()

    end = (feeder.at - 2 * WINDOW) // 3600 * 3600  # the newest ones wait for samples after them
    assert daemon.eventually(lambda: (ask("/api/v1/fleet")["time"] or 0) >= end, 60), (
        f"windows close up to the last hour: {ask('/api/v1/fleet')['time']}")
    stored = set()
    for at in range(feeder.start, end, 86400):
        stored.update(t for t in ask(f"/api/v1/fleet/history?from={at}&to={at + 86400}&points=5000")["time"] if t <= end)
    costs = ask(f"/api/v1/costs?by=namespace&from={feeder.start}&to={end}&step=day&limit=10000")
    hours = len(stored) * WINDOW / 3600
    each = [g["cpu"]["allocation"] for g in costs["groups"]]
    assert len(each) == feeder.groups, "each group has costs"
    assert max(abs(a - LIMIT * hours) for a in each) < 1e-6, (
        f"{len(stored)} stored windows of {feeder.groups} jobs are counted once: {(LIMIT * hours, min(each), max(each))}")
    return (end - feeder.start) // WINDOW - len(stored)


def ledger_is_whole(stage, tautd, granters):
    entries = everything(tautd, LEDGER, "entries")
    assert [e["id"] for e in reversed(entries)] == list(range(1, len(entries) + 1)), "entries of the ledger have no gap, and are there once"
    answered = [i for g in granters for i in g.answered]
    grants = [e for e in entries if e["act"] == "grant"]
    assert len(set(answered)) == len(answered), "no two grants got one entry"
    assert sorted(set(answered) - {e["id"] for e in grants}) == [], f"{len(answered)} answered grants are kept"
    unanswered = len(grants) - len(answered)
    assert 0 <= unanswered <= len(granters), "and no other but the last one of each client"
    page = tautd.ask("/api/v1/businesses", token=OPERATOR, timeout=60).json()
    assert Decimal(page["businesses"][0]["balance"]) == 1000 + Decimal("0.01") * len(grants), "the balance is their sum"


def requests_are_whole(stage, tautd, requesters):
    kept = everything(tautd, REQUESTS, "requests")
    ids = [r["id"] for r in kept]
    assert len(set(ids)) == len(ids), "each request is there once"
    assert sorted(ids) == list(range(1, max(ids) + 1)), "and none is missing"
    jobs = [r["job"] for r in kept]
    assert len(set(jobs)) == len(jobs), "each job has one request"
    by_id = {r["id"]: r for r in kept}
    for requester in requesters:
        gone = [i for i, job in {**requester.open, **requester.ended}.items() if by_id.get(i, {}).get("job") != job]
        assert gone == [], f"requests of {requester.name} that were answered are kept"
        again = [i for i in requester.ended if by_id[i]["end"] != "withdrawn"]
        assert again == [], "and what was ended stays ended"


def test_usage_money_and_requests_come_in_over_kills(stage, story, request):
    option = request.config.getoption
    story.kills, story.groups, rng = option("kills") or 5, option("groups") or 100, random.Random(option("seed") or 1)
    (stage.dir / "quota.yaml").write_text(quota_of(story.groups))
    (stage.dir / "budgets.yaml").write_text(budgets_of(story.groups))
    port, config = daemon.free_port(), config_of(stage)
    story.tautd = stage.tautd(config=config, store=stage.dir / "tautd.db", port=port)
    story.feeder = Feeder(port, story.groups, int(time.time()) // 86400 * 86400 - 3 * 86400)
    story.granters = [Granter(port, f"granter{i}") for i in range(2)]
    story.requesters = [Requester(port, f"requester{i}", story.groups) for i in range(2)]
    clients = [Client(act) for act in (story.feeder, *story.granters, *story.requesters)]
    for _ in range(story.kills):
        time.sleep(rng.uniform(0.05, 0.8))  # a moment by chance
        story.tautd.kill()
        story.tautd = stage.tautd(config=config, store=stage.dir / "tautd.db", port=port)
    assert daemon.eventually(lambda: story.feeder.at - story.feeder.start >= 4 * 3600, 300), (
        f"usage was written: {story.feeder.at - story.feeder.start}")
    for client in clients:
        client.end()
    # The last kill may have lost the newest windows; the windows after them close the earlier ones.
    until = story.feeder.at + 3 * WINDOW
    while story.feeder.at < until:
        story.feeder()


def test_each_window_is_counted_once(stage, story):
    story.lost = account_is_whole(stage, story.tautd, story.feeder)


def test_the_ledger_is_whole(stage, story):
    ledger_is_whole(stage, story.tautd, story.granters)


def test_requests_are_whole(stage, story):
    requests_are_whole(stage, story.tautd, story.requesters)
    print(f"{story.kills} kills: {sum(len(g.answered) for g in story.granters)} grants ({sum(g.repeated for g in story.granters)} cut off and repeated), "
          f"{sum(len(r.open) + len(r.ended) for r in story.requesters)} requests, {story.feeder.sent} writes of {(story.feeder.at - story.feeder.start) // WINDOW} windows of {story.groups} jobs, "
          f"{story.lost} windows without samples, which a kill cut off")
    assert story.tautd.stop() == 0, "it stops in order"
