"""Two minutes of faults on a fake cluster: tautd is killed with SIGKILL, its watches are cut, its owner opts out and in
and moves its bounds, pods are replaced, and containers are killed for their memory. After every step: nothing that is opted out is written,
no limit in force is below its bound, every kill is charged once and to the limit at its time; Events, decisions and metrics say the same."""
import os
import random
import threading
import time

import pytest

import daemon
import fake_cluster
from daemon import metric
from fake_cluster import JOB, MIB, START, decisions

OWNERS = 512  # MiB
KNOWN_SECONDS = 8  # of the wall clock, in which an annotation is followed
SAME = 0.02  # limits this close, as a share, are one: pages


class Cluster(fake_cluster.Cluster):
    def __init__(self):
        super().__init__()
        self.scrape_seconds = 6 * 3600
        self.cuts = 0
        self.out_since = None  # of the wall clock: an annotation opts out
        self.lower, self.lower_since = 0, 0.0
        self.wrong = []
        self.kills = []  # (seconds, MiB, whether the node's clock was a minute ahead)
        self.pods_made = 0

    def resize(self, name, patch):
        super().resize(name, patch)
        limit = self.limit(name)
        if self.out_since is not None and time.monotonic() - self.out_since > KNOWN_SECONDS and abs(limit - OWNERS) > 1:
            self.wrong.append(f"{name} is opted out and was resized to {limit} MiB")

    def annotations(self):
        out = {} if self.out_since is None else {"tautline.dev/mode": "off"}
        if self.lower:
            out["tautline.dev/memory.lower"] = f"{self.lower}Mi"
        return out

    def kill(self, name, ahead):
        """Kills a container at the time of the newest sample; `ahead`: by a clock that is one sample ahead of it."""
        with self.lock:
            seconds_ago = 0 if ahead else fake_cluster.STEP
            self.kills.append((START + self.seconds - seconds_ago, self.limit(name), ahead))
            self.kill_for_memory(name, seconds_ago)

    def replace(self):
        for name in list(self.pods):
            self.remove(name)
        for _ in range(2):
            self.pods_made += 1
            self.add(f"web-5d4f8c7b9d-n{self.pods_made}", f"{OWNERS}Mi")


class Handler(fake_cluster.Handler):
    def watch(self, events, version):
        self.connection.settimeout(20)
        mine = self.cluster.cuts
        cut = threading.Thread(target=self.end_with, args=(mine,), daemon=True)
        cut.start()
        try:
            super().watch(events, version)
        except OSError:
            pass

    def end_with(self, mine):
        daemon.eventually(lambda: self.cluster.cuts != mine, 3600, 0.2)
        try:
            self.connection.shutdown(2)
        except OSError:
            pass


class Chaos:
    def __init__(self, stage, cluster, config):
        self.stage, self.cluster, self.config = stage, cluster, config
        self.store = str(stage.dir / "tautd.db")
        self.random = random.Random(int(os.environ.get("TAUT_CHAOS_SEED", "2")))
        self.tautd = stage.tautd(config=config, store=self.store)
        self.since_start = 0  # kills
        self.steps = []

    def step(self):
        """Performs one fault, and returns the errors until the next step."""
        c = self.cluster
        what = self.random.choice(("off", "lower", "kill", "kill", "kill", "sigkill", "cut", "replace", "calm"))
        self.steps.append(what)
        if what == "off":
            c.out_since = None if c.out_since is not None else time.monotonic()
            c.annotate(c.annotations())
        elif what == "lower":
            c.lower, c.lower_since = self.random.choice((0, 64, 128, 300)), time.monotonic()
            c.annotate(c.annotations())
        elif what == "kill":
            c.kill(self.random.choice(list(c.pods)), self.random.random() < 0.5)
        elif what == "sigkill":
            self.tautd.kill()
            self.tautd = self.stage.tautd(config=self.config, store=self.store)
        elif what == "cut":
            c.cuts += 1
        elif what == "replace":
            c.replace()
        return daemon.eventually(self.wrong, self.random.uniform(0.2, 3) / daemon.PATIENCE, 0.2)

    # ---- the sentences ----

    def wrong(self):
        return self.opted_out() + self.below() + self.charges()

    def opted_out(self):
        return list(self.cluster.wrong)

    def below(self):
        c = self.cluster
        if c.out_since is not None or not c.lower or time.monotonic() - c.lower_since < KNOWN_SECONDS:
            return []
        return [f"{name}: {c.limit(name)} MiB is below the bound of {c.lower}" for name in list(c.pods)
                if c.limit(name) < c.lower - 1]

    def charges(self):
        ooms = self.tautd.get("/api/v1/ooms?limit=1000")["ooms"]
        kills = list(self.cluster.kills)
        wrong = []
        for oom in ooms:
            for _ in range(oom["kills"]):
                # The scrapes are the clock, and a date of another tautd may be its sample's.
                near = [k for k in kills if abs(k[0] - oom["time"]) <= 600]
                if not near:
                    wrong.append(f"{oom}: no such kill of {self.cluster.kills}")
                    continue
                best = min(near, key=lambda k: (abs(k[0] - oom["time"]), abs(k[1] - (oom["limit"] or 0) / MIB)))
                kills.remove(best)
                wrong += self.charge(best, oom)
        return wrong

    def charge(self, kill, oom):
        if oom["limit"] is None:
            return [f"{oom}: without a limit, killed under {kill[1]} MiB"]
        limit = oom["limit"] / MIB
        if abs(limit - kill[1]) <= SAME * kill[1]:
            return []
        # In the second of an order a container may have either limit, and the lower one counts. A clock that is ahead dates a kill after an
        # order that was applied after it.
        of_orders = [a / MIB if a is not None else OWNERS for d in decisions(self.tautd) for a in (d["before"], d["after"])
                     if d["kind"] != "would_set"]
        if (limit < kill[1] or kill[2]) and any(abs(limit - a) <= SAME * a for a in of_orders):
            return []
        return [f"{oom}: killed under {kill[1]} MiB, and charged to {limit:.0f}"]

    def all_charged(self):
        return sum(o["kills"] for o in self.tautd.get("/api/v1/ooms?limit=1000")["ooms"]) == len(self.cluster.kills)


@pytest.fixture(scope="module")
def cluster():
    with fake_cluster.serving(Cluster(), Handler) as its:
        its.webhook_port = daemon.free_port()
        yield its


def test_the_sentences_hold_after_each_step(stage, story, cluster):
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {stage.kubeconfig("kubeconfig", cluster.port)}, scrape_interval: 1s, admission: {{listen: 127.0.0.1:{cluster.webhook_port}, name: 127.0.0.1}}}}
defaults: {{startup_grace: 0s}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""
    cluster.replace()
    story.chaos = Chaos(stage, cluster, config)
    lowered = lambda: all(cluster.limit(name) < 300 for name in list(cluster.pods))  # noqa: E731
    assert daemon.eventually(lowered, 60), f"containers of 20 MiB get less than 512 MiB: {cluster.pods}"
    cluster.scrape_seconds = 60
    wrong, until = [], time.monotonic() + float(os.environ.get("TAUT_CHAOS_SECONDS", "90"))
    while not wrong and time.monotonic() < until:
        wrong = story.chaos.step()
    print(f"      {len(story.chaos.steps)} steps, {story.chaos.steps.count('sigkill')} of them SIGKILL, {len(cluster.kills)} kills")
    assert wrong[:3] == [], f"the sentences hold after each step of {' '.join(story.chaos.steps)}"


def test_every_kill_is_charged_once_to_the_limit_at_its_time(story, cluster):
    cluster.out_since, cluster.lower = None, 0
    cluster.annotate({})
    assert daemon.eventually(story.chaos.all_charged, 60, 1), (
        f"every kill is charged once: {(cluster.kills, story.chaos.tautd.get('/api/v1/ooms?limit=1000'))}")
    assert story.chaos.wrong()[:3] == [], "to the limit at its time"
    story.tautd = story.chaos.tautd


def test_decisions_pods_and_events_agree_in_the_end(story, cluster):
    settled = lambda: all(d["outcome"] != "pending" for d in decisions(story.tautd))  # noqa: E731
    assert daemon.eventually(settled, 60), f"every decision has an outcome: {[d for d in decisions(story.tautd) if d['outcome'] == 'pending']}"
    last = lambda: next((d for d in decisions(story.tautd) if d["kind"] != "would_set"), None)  # noqa: E731

    def agrees():
        # A failed order, such as one for more than a node's capacity, leaves the previous limit.
        amount = last()["before" if last()["outcome"] == "failed" else "after"]
        ordered = OWNERS if amount is None else amount / MIB
        return all(abs(cluster.limit(name) - ordered) <= 1 for name in list(cluster.pods))

    assert daemon.eventually(agrees, 60, 0.5), f"the pods have what the last decision says: {(last(), {n: cluster.limit(n) for n in cluster.pods})}"
    said = {e["reason"] for e in cluster.said}
    # An Event follows the outcome; it is lost if tautd is killed between the two.
    assert said & {"LimitSet", "LimitRaised", "LimitReleased"}, "Events say what was done"
    raised = [d for d in decisions(story.tautd) if d["kind"] == "oom_raise"]
    assert "LimitRaised" not in said or raised, "and nothing was raised after a kill that no decision says"


def test_all_is_known_and_tautd_stops(story):
    assert metric(story.tautd, "tautd_kubernetes_synced") == 1, "the metrics say that all is known"
    assert story.tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}").status == 200, "the job is there"
    assert story.tautd.stop() == 0, "tautd stops"
