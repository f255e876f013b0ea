"""Half an hour of faults in a real cluster: containers grow into their limits and are killed by the kernel, owners opt
out and in and set bounds, deployments roll out, tautd is killed with SIGKILL and the API server is restarted.

After every step: nothing that is opted out is written, no limit in force is below its bound, and every kill that the kubelet saw is charged
once, to a limit that the pod had. At the end decisions, Events and pods say the same. TAUT_CHAOS_SECONDS: another length.
"""
import datetime
import json
import os
import random
import subprocess
import threading
import time

import pytest

import daemon
from bed import MANIFESTS, MIB, deployment, limit_of, up

OWNERS = 128  # MiB
APPS = ("app0", "app1", "app2", "app3")
NEVER = "app3"  # is opted out from its creation
KNOWN_SECONDS = 45  # in which an annotation is followed, by a busy machine too
SAME = 0.02  # limits this close, as a share, are one
# It uses the MiB in /tmp/size. A container that is killed restarts with little.
LOOP = "while true; do s=$(cat /tmp/size 2>/dev/null || echo 4); dd if=/dev/zero of=/dev/null bs=${s}M count=20 2>/dev/null || exit 1; sleep 0.3; done"


def workload(name):
    text = deployment(name, memory=f"32Mi, {OWNERS}Mi", command=json.dumps(["sh", "-c", LOOP]))
    if name == NEVER:
        text = text.replace(f"metadata: {{name: {name}}}", f'metadata: {{name: {name}, annotations: {{tautline.dev/mode: "off"}}}}', 1)
    return text


def seconds_of(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


class Chaos:
    def __init__(self, stage, bed, config):
        self.stage, self.bed, self.config = stage, bed, config
        self.store = str(stage.dir / "tautd.db")
        self.random = random.Random(int(os.environ.get("TAUT_CHAOS_SEED", "1")))
        self.out = {NEVER: 0.0}  # since when, by app
        self.lower = {}  # MiB, and since when
        self.limits = {}  # by pod: (time, MiB), as the API server said
        self.kills = {}  # by pod's UID and time of the end: the app
        self.steps = []
        self.lock = threading.Lock()
        threading.Thread(target=self.follow, daemon=True).start()
        self.tautd = stage.tautd(config=config, store=self.store)

    def follow(self):
        """Watches pods, so that no kill is missed between two polls."""
        decoder = json.JSONDecoder()
        while True:
            watch = subprocess.Popen([self.bed.bin / "kubectl", "--kubeconfig", self.bed.config, "get", "pods", "-w", "-o", "json"], text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            text = ""
            for line in watch.stdout:
                text += line
                if line.startswith("}"):
                    self.note(decoder.raw_decode(text)[0])
                    text = ""
            watch.wait()
            time.sleep(0.5)  # the API server starts again

    def note(self, pod):
        app = pod["metadata"].get("labels", {}).get("app")
        if app not in APPS:
            return
        uid = pod["metadata"]["uid"]
        with self.lock:
            seen = self.limits.setdefault(uid, [])
            if not seen or seen[-1][1] != limit_of(pod):
                seen.append((time.time(), limit_of(pod)))
            for status in pod["status"].get("containerStatuses", []):
                for state in (status.get("state", {}), status.get("lastState", {})):
                    end = state.get("terminated") or {}
                    if end.get("reason") == "OOMKilled":
                        self.kills[uid, seconds_of(end["finishedAt"])] = app

    def look(self):
        pods = [p for app in APPS for p in self.bed.pods(app)]
        for pod in pods:
            self.note(pod)
        return pods

    def step(self):
        """Performs one fault, and returns the errors until the next step."""
        what = self.random.choice(("grow", "grow", "grow", "off", "lower", "roll", "sigkill", "calm", "calm"))
        app = self.random.choice(APPS[:3])
        self.steps.append(what)
        try:
            self.act(what, app)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as e:
            print(f"      {what} of {app}: {str(e.stderr)[-200:]}")  # its container is in a back-off
        return daemon.eventually(self.wrong, self.random.uniform(1, 8) / daemon.PATIENCE, 1)

    def act(self, what, app):
        if what == "grow":
            pod = self.random.choice(self.bed.pods(app))
            size = self.random.choice((8, 40, 90, 150, 250))
            self.bed.kubectl("exec", pod["metadata"]["name"], "-c", "app", "--", "sh", "-c", f"echo {size} > /tmp/size")
        elif what == "off":
            is_out = app in self.out
            self.bed.kubectl("annotate", "deployment", app, "tautline.dev/mode-" if is_out else "tautline.dev/mode=off", "--overwrite")
            self.out.pop(app) if is_out else self.out.update({app: time.time()})
        elif what == "lower":
            mib = self.random.choice((0, 48, 64, 96))
            self.bed.kubectl("annotate", "deployment", app, f"tautline.dev/memory.lower={mib}Mi" if mib else "tautline.dev/memory.lower-", "--overwrite")
            self.lower[app] = (mib, time.time())
        elif what == "roll":
            self.bed.kubectl("rollout", "restart", f"deploy/{app}")
        elif what == "sigkill":
            self.tautd.kill()
            self.tautd = self.stage.tautd(config=self.config, store=self.store)


    def wrong(self):
        ooms = self.tautd.get("/api/v1/ooms?limit=1000")["ooms"]  # first: tautd may see a kill before the look does
        pods = self.look()
        return self.opted_out(pods) + self.below(pods) + self.charges(ooms)

    def opted_out(self, pods):
        out = []
        for pod in pods:
            app = pod["metadata"]["labels"]["app"]
            ours = [f for f in pod["metadata"].get("managedFields", []) if f["manager"].startswith("tautline")]
            if app == NEVER and (ours or limit_of(pod) != OWNERS):
                out.append(f"{app} was never opted in, and was written: {ours} {limit_of(pod)}")
            # A container that uses more than its owner's limit keeps its current one, also if the kubelet refuses the owner's; no other
            # limit is set.
            at, mib = self.limits[pod["metadata"]["uid"]][-1]
            had = [before for t, before in self.limits[pod["metadata"]["uid"]] if t <= self.out.get(app, 0) + KNOWN_SECONDS]
            if app in self.out and at - self.out[app] > KNOWN_SECONDS and mib != OWNERS and mib not in had:
                out.append(f"{app} is opted out since {self.out[app]:.0f}, and got {mib} MiB at {at:.0f}")
        return out

    def below(self, pods):
        out = []
        for pod in pods:
            app = pod["metadata"]["labels"]["app"]
            mib, since = self.lower.get(app, (0, 0))
            if mib and app not in self.out and time.time() - since > KNOWN_SECONDS and limit_of(pod) < mib - 1:
                out.append(f"{app} has {limit_of(pod)} MiB, and its bound is {mib}")
        return out

    def charges(self, ooms):
        with self.lock:
            out, left = [], dict(self.kills)
        for oom in ooms:
            app = oom["job"].split("/")[2]
            for _ in range(oom["kills"]):
                near = sorted((abs(k[1] - oom["time"]), k) for k, of in left.items() if of == app)
                if not near or near[0][0] > 400:
                    out.append(f"{oom}: the kubelet shows no such kill: {sorted(self.kills.items())}")
                    continue
                left.pop(near[0][1])
                out += self.charge(near[0][1], oom, near[0][0] <= 2)
        return out

    def charge(self, kill, oom, is_dated):
        if oom["limit"] is None:
            return [f"{oom}: charged to no limit"]
        had = self.limits.get(kill[0], [])
        before = [mib for at, mib in had if at <= kill[1] - 5][-1:]
        around = [mib for at, mib in had if kill[1] - 5 < at <= kill[1] + (10 if is_dated else 60)]
        limit = oom["limit"] / MIB
        # A limit that tautd has ordered and the poll has missed is below the pod's.
        if any(abs(limit - mib) <= SAME * mib for mib in before + around) or limit < min(before + around, default=0):
            return []
        return [f"{oom}: charged to {limit:.0f} MiB, and the pod had {had} at {kill[1]}"]


@pytest.fixture(scope="module")
def bed(stage):
    with up(stage, "node") as its:
        yield its


def start(stage, bed):
    for way in ("observe", "act", "webhook"):
        bed.kubectl("apply", "-f", str(MANIFESTS / way / "rbac.yaml"))
    admission = daemon.free_port()
    bed.call_webhook(admission)
    config = f"""actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers, grace: 10s}}
kubernetes: {{kubeconfig: {bed.kubeconfig_of_tautd(stage)}, scrape_interval: 5s, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1}}}}
rules:
  - {{name: all, match: {{job: "default/*"}}, set: {{mode: auto, change_period: 1m}}}}
"""
    return Chaos(stage, bed, config)


def test_the_sentences_hold_after_each_step(stage, story, bed):
    for app in APPS:
        bed.kubectl("apply", "-f", "-", given=workload(app))
    for app in APPS:
        bed.kubectl("rollout", "status", f"deploy/{app}", "--timeout=120s")
    story.chaos = start(stage, bed)
    wrong, until = [], time.monotonic() + float(os.environ.get("TAUT_CHAOS_SECONDS", "1800"))
    while not wrong and time.monotonic() < until:
        wrong = story.chaos.step()
    print(f"      {len(story.chaos.steps)} steps, {story.chaos.steps.count('sigkill')} of them SIGKILL, {len(story.chaos.kills)} kills seen")
    assert wrong[:3] == [], f"the sentences hold after each step of {' '.join(story.chaos.steps)}"


def test_every_kill_is_charged_once_to_a_limit_that_the_pod_had(story):
    story.tautd = story.chaos.tautd

    def charged():
        story.chaos.look()
        return sum(o["kills"] for o in story.tautd.get("/api/v1/ooms?limit=1000")["ooms"]) >= len(story.chaos.kills)

    assert daemon.eventually(charged, 90, 2), (
        f"every kill that the kubelet shows is charged: {(story.chaos.kills, story.tautd.get('/api/v1/ooms?limit=1000'))}")
    assert story.chaos.wrong()[:3] == [], "once, to a limit that the pod had"


def test_what_was_raised_is_described_and_nothing_else(story, bed):
    raised = [d for d in story.tautd.get("/api/v1/decisions?limit=1000")["decisions"] if d["kind"] == "oom_raise" and d["outcome"] == "applied"]
    for d in raised[:1]:
        app = d["job"].split("/")[2]
        described = lambda: bed.kubectl("describe", "deployment", app)  # noqa: E731
        assert daemon.eventually(lambda: "LimitRaised" in described(), 30, 2), f"kubectl describe shows the last raise: {described()[-600:]}"
    described = bed.kubectl("describe", "deployment", NEVER)
    assert "LimitSet" not in described and "LimitRaised" not in described, f"and of what is opted out nothing: {described[-600:]}"
