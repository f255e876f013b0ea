"""Requests that a real kubelet, scheduler and API server refuse, delay or forget, and tautd's reaction.

A resize that the kubelet defers until another pod has gone; ones that are infeasible; evictions that a PodDisruptionBudget
refuses; a rollout in the middle of a trial; a watch whose version the API server has forgotten, while pods are created and
tautd hangs; SIGKILLs of tautd between a decision and its outcome. What is set is read from the cgroups. Usage is the test's own,
by remote write with clock: samples, so that no five-minute window has to be waited for. It takes some three minutes.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.request

import pytest

import daemon
from daemon import metric
from bed import MANIFESTS, MIB, cgroup_cpu_limit, cgroup_limit, limit_of, mebibytes, restarts_of, up

ETCD = f"http://127.0.0.1:{os.environ.get('BED_PORT', '16440')}"  # up.sh
REAL = "real-0"
LARGE = "large-0"
# Room for everything; the test plays its kubelet.
LARGE_NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": LARGE, "labels": {"kubernetes.io/hostname": LARGE}}}
LARGE_ROOM = {"cpu": "64", "memory": "256Gi", "pods": "100"}
CONFIG = """clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers, grace: 0s}}
kubernetes:
  kubeconfig: {kubeconfig}
  scrape_interval: 0s
  fallback: evict
  admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1}}
recommenders: {{moving_window: {{min_history: 0}}}}
defaults: {{recommender: moving_window, startup_grace: 0s, change_period: 0s, min_change: 0, cpu.lower: 0.02, cpu.upper: 0.02}}
"""


def deployment(name, replicas=1, on=None, memory="64Mi", side_cpu=None):
    """Returns a deployment of a container app, and a second one, side, with this CPU request. `on`: the only node on which it may run."""
    nodes = "" if on is None else f"nodeSelector: {{kubernetes.io/hostname: {on}}}"
    side = "" if side_cpu is None else f"""
      - name: side
        image: bed.local/busybox:1
        command: [sleep, "100000"]
        resources: {{requests: {{cpu: {side_cpu}, memory: 16Mi}}}}"""
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      terminationGracePeriodSeconds: 1
      {nodes}
      containers:
      - name: app
        image: bed.local/busybox:1
        command: [sleep, "100000"]
        resources: {{requests: {{cpu: 20m, memory: 16Mi}}, limits: {{cpu: 20m, memory: {memory}}}}}{side}
---
"""


BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: guarded}
spec: {minAvailable: 2, selector: {matchLabels: {app: guarded}}}
"""
APPS = ("late", "pair", "pinned", "guarded", "tried", "killed")
# The app of `pair` and of `pinned` gets 1.8 cores: beside its side container more than the two cores of the real node.
WORKLOADS = (deployment("late", on=REAL) + deployment("pair", 2, side_cpu="300m") + deployment("pinned", 2, on=REAL, side_cpu="400m") +
             deployment("guarded", 2) + deployment("tried", 4, on=REAL, memory="256Mi") + deployment("killed", on=REAL))


def job_of(app):
    return f"default/deployment/{app}/app"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class PlayedNode(threading.Thread):
    """A simulated kubelet: it reports its node as ready, and its pods as running with the limits of their specs."""

    def __init__(self, bed):
        super().__init__(daemon=True)
        self.bed, self.ended, self.beat_at = bed, threading.Event(), 0
        bed.kubectl("create", "-f", "-", given=json.dumps(LARGE_NODE))
        self.beat()

    def beat(self):
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now()}
        self.patch("node", LARGE, {"allocatable": LARGE_ROOM, "capacity": LARGE_ROOM, "conditions": [ready]})
        self.beat_at = time.monotonic()

    def patch(self, kind, name, status):
        self.bed.kubectl("patch", kind, name, "--subresource=status", "--type=strategic", "-p", json.dumps({"status": status}))

    def run(self):
        while not self.ended.wait(1):
            try:
                self.step()
            except (subprocess.SubprocessError, ValueError):
                pass  # the API server restarts, or the pod is gone

    def step(self):
        if time.monotonic() > self.beat_at + 10:
            self.beat()
        for pod in json.loads(self.bed.kubectl("get", "pods", "--field-selector", f"spec.nodeName={LARGE}", "-o", "json"))["items"]:
            if "deletionTimestamp" in pod["metadata"]:
                self.bed.kubectl("delete", "pod", pod["metadata"]["name"], "--force", "--grace-period=0")
            elif pod["status"]["phase"] == "Pending":
                self.start_pod(pod)

    def start_pod(self, pod):
        statuses = [{"name": c["name"], "image": c["image"], "imageID": "", "containerID": f"played://{c['name']}", "ready": True, "started": True,
                     "restartCount": 0, "state": {"running": {"startedAt": now()}}, "resources": c["resources"],
                     "allocatedResources": c["resources"].get("requests", {})} for c in pod["spec"]["containers"]]
        conditions = [{"type": t, "status": "True", "lastTransitionTime": now()} for t in ("Initialized", "ContainersReady", "Ready")]
        self.patch("pod", pod["metadata"]["name"], {"phase": "Running", "startTime": now(), "conditions": conditions, "containerStatuses": statuses})


class Scene:
    """The cluster, tautd in it, and the pods' usage."""

    def __init__(self, stage, bed):
        self.stage, self.bed, self.tautd, self.arguments = stage, bed, None, {}
        self.at = int(time.time()) // 300 * 300 - 12 * 3600  # of the newest samples

    def start(self):
        """Starts tautd, also again with the same store."""
        self.tautd = self.stage.tautd(**self.arguments)

    def pass_time(self, windows=1):
        """Sends samples of all running containers for these five-minute windows."""
        pods = json.loads(self.bed.kubectl("get", "pods", "-o", "json"))["items"]
        running = [(p["metadata"]["name"], c["name"]) for p in pods if p["status"]["phase"] == "Running" for c in p["spec"]["containers"]]
        for _ in range(windows):
            times = [self.at + 60 * i for i in range(1, 6)]
            self.at = times[-1]
            body = []
            for pod, container in running:
                labels = {"namespace": "default", "pod": pod, "container": container}
                body.append(({"__name__": "container_memory_working_set_bytes", **labels}, [(t, 4 * MIB) for t in times]))
                body.append(({"__name__": "container_cpu_usage_seconds_total", **labels}, [(t, 0.001 * (t - 1.7e9)) for t in times]))
            answer = daemon.write(self.tautd.port, daemon.write_body(body))
            assert answer.status == 204, answer.text

    def set(self, app, **settings):
        """Sets a limit of its job app; "memory": its only one, in MiB, and "cpu" in cores."""
        values = {}
        for key, value in settings.items():
            if key in ("cpu", "memory"):
                text = str(value) if key == "cpu" else f"{value}MiB"
                values |= {f"{key}.lower": text, f"{key}.upper": text}
            else:
                values[key.replace("__", ".")] = str(value)
        answer = self.tautd.ask(f"/api/v1/jobs/{daemon.quoted(job_of(app))}/settings", "PATCH", json.dumps(values),
                                {"Content-Type": "application/json"})
        assert answer.status == 200, answer.text

    def decisions(self, app, target="memory"):
        """Returns the decisions without those of mode observe, newest first."""
        found = self.tautd.get("/api/v1/decisions?limit=1000")["decisions"]
        return [d for d in found if d["job"] == job_of(app) and d["target"] == target and d["kind"] != "would_set"]

    def said(self, app, text, target="memory"):
        """Returns the newest decision once its outcome has this text."""
        return next((d for d in self.decisions(app, target)[:1] if text in d["outcome_text"]), None)

    def job(self, app):
        return self.tautd.get(f"/api/v1/jobs/{daemon.quoted(job_of(app))}")

    def events(self, app, reason=None):
        found = json.loads(self.bed.kubectl("get", "events", "--field-selector", f"involvedObject.kind=Deployment,involvedObject.name={app}",
                                            "-o", "json"))["items"]
        return [e["message"] for e in found if e["source"].get("component") == "tautline" and reason in (None, e["reason"])]

    def uids(self, app):
        return {p["metadata"]["uid"] for p in self.bed.pods(app)}

    def nodes(self, app):
        return sorted(p["spec"].get("nodeName", "") for p in self.bed.pods(app))


def pending_reason(pod):
    """Returns the reason of the pending resize, as the kubelet reports it."""
    return next((c.get("reason") for c in pod["status"].get("conditions", []) if c["type"] == "PodResizePending"), None)


@pytest.fixture(scope="module")
def bed(stage):
    with up(stage, "node") as its:
        yield its


@pytest.fixture(scope="module")
def scene(stage, bed):
    its = set_up(stage, bed)
    # Three wait for half a minute each until a pod is evicted: side by side.
    its.set("pair", memory=64, cpu=1.8)
    its.set("pinned", memory=64, cpu=1.8)
    its.set("guarded", memory=64 * 1024)
    its.set("late", memory=2048)
    its.pass_time(2)
    for app in ("pair", "pinned", "guarded"):
        its.set(app, mode="auto")
    return its


def set_up(stage, bed):
    bed.kubectl("apply", "-f", "-", given=WORKLOADS + BUDGET)
    for app in APPS:
        bed.kubectl("rollout", "status", f"deploy/{app}", "--timeout=50s")
    PlayedNode(bed).start()
    for file in ("observe/rbac.yaml", "act/rbac.yaml", "webhook/rbac.yaml", "webhook/eviction.yaml"):
        bed.kubectl("apply", "-f", str(MANIFESTS / file))
    admission = daemon.free_port()
    bed.call_webhook(admission)
    kubeconfig = bed.kubeconfig_of_tautd(stage)
    scene = Scene(stage, bed)
    scene.arguments = {"config": CONFIG.format(kubeconfig=kubeconfig, admission=admission), "store": str(stage.dir / "tautd.db")}
    scene.start()
    assert daemon.eventually(lambda: metric(scene.tautd, "tautd_kubernetes_synced") == 1, 30), "tautd lists the pods"

    def known():
        """Sends samples until tautd knows the pods: it takes the time from the samples."""
        scene.pass_time()
        return {j["name"] for j in scene.tautd.get("/api/v1/jobs")["jobs"]
                if j["memory"]["would_be"] is not None and j["memory"]["owner_limit"] is not None}

    wanted = {job_of(app) for app in APPS}
    assert daemon.eventually(lambda: wanted <= known(), 20, 1), f"each container has a recommendation: {scene.tautd.get('/api/v1/jobs')}"
    return scene


def test_a_resize_is_deferred_until_another_pod_has_gone(scene, story):
    """The kubelet sets what fits on the node with all other pods, and waits with the rest."""
    bed = scene.bed
    items = json.loads(bed.kubectl("get", "pods", "-A", "--field-selector", f"spec.nodeName={REAL}", "-o", "json"))["items"]
    taken = sum(mebibytes(c["resources"]["requests"]["memory"]) for p in items for c in p["spec"]["containers"])
    allocatable = bed.kubectl("get", "node", REAL, "-o", "jsonpath={.status.allocatable.memory}")
    fills = int(mebibytes(allocatable) - taken) - 300
    filler = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "filler"}, "spec": {
        "nodeSelector": {"kubernetes.io/hostname": REAL}, "terminationGracePeriodSeconds": 1, "containers": [
            {"name": "app", "image": "bed.local/busybox:1", "command": ["sleep", "100000"], "resources": {"requests": {"memory": f"{fills}Mi"}}}]}}
    bed.kubectl("create", "-f", "-", given=json.dumps(filler))
    bed.kubectl("wait", "--for=condition=Ready", "pod/filler", "--timeout=50s")
    pod = lambda: bed.pods("late")[0]  # noqa: E731
    before = pod()
    scene.set("late", mode="auto")
    assert daemon.eventually(lambda: pending_reason(pod()) == "Deferred", 30), (
        f"the kubelet defers a raise that its node has no room for: {(pod()['status'], scene.decisions('late'))}")
    waits = daemon.eventually(lambda: scene.said("late", "deferred by the kubelet: Node didn't have enough resource: memory"), 20)
    assert waits and waits["outcome"] == "pending", f"the decision is pending, in the kubelet's words: {scene.decisions('late')}"
    assert (limit_of(pod()), cgroup_limit(pod())) == (2048, 64), "the pod's spec has the limit, and the kernel the one before"
    assert scene.job("late")["memory"]["owner_limit"] / MIB == 64, "the owner's limit is what it was"
    said = lambda: scene.events("late", "LimitSet")  # noqa: E731
    is_said = lambda: len(said()) == 1 and "memory limit 64.0 MiB -> 2.00 GiB" in said()[0]  # noqa: E731
    assert said() == [], "no Event says that it is set"
    generation = pod()["metadata"]["generation"]
    bed.kubectl("delete", "pod", "filler")
    assert daemon.eventually(lambda: cgroup_limit(pod()) == 2048, 60), f"when the other pod is gone, the kernel has the limit: {pod()['status']}"
    assert daemon.eventually(lambda: scene.decisions("late")[0]["outcome"] == "applied", 20), (
        f"and the decision is applied: {scene.decisions('late')}")
    assert daemon.eventually(is_said, 20), f"one Event of the Deployment names the decision: {scene.events('late')}"
    assert (pod()["metadata"]["uid"], pod()["metadata"]["generation"], restarts_of(pod())) == (before["metadata"]["uid"], generation, 0), (
        "in the same container, by the one patch that was sent first")
    assert (len(scene.decisions("late")), len(said())) == (1, 1), "as one decision with one Event"


def test_an_infeasible_resize_moves_the_pods(scene, story):
    """Two containers that together need more than the node has: the pods move to one that has it."""
    bed = scene.bed
    told = lambda: [e["message"] for e in json.loads(bed.kubectl("get", "events", "-o", "json"))["items"]  # noqa: E731
                    if e["reason"] == "ResizeInfeasible" and e["involvedObject"]["name"].startswith("pair-")]
    assert daemon.eventually(told, 20), f"the kubelet finds what is more than its node infeasible: {scene.decisions('pair', 'cpu')}"
    assert daemon.eventually(lambda: scene.nodes("pair") == [LARGE, LARGE], 150, 1), (
        f"both pods are evicted, and come on a node that has it: {(scene.nodes('pair'), scene.decisions('pair', 'cpu'))}")
    assert {p["spec"]["containers"][0]["resources"]["limits"]["cpu"] for p in bed.pods("pair")} == {"1800m"}, "with the limit, from the webhook"
    assert daemon.eventually(lambda: scene.decisions("pair", "cpu")[0]["outcome"] == "applied", 20), (
        f"and the decision is applied: {scene.decisions('pair', 'cpu')}")
    assert len(scene.decisions("pair", "cpu")) == 1, "it is the only one"
    why = "infeasible on this node: Node didn't have enough capacity: cpu"
    said = lambda: [why in e for e in scene.events("pair", "PodEvicted")]  # noqa: E731
    assert daemon.eventually(lambda: said() == [True, True], 10), f"an Event of each eviction says why: {scene.events('pair')}"


def test_without_room_pods_stay(scene, story):
    """If no node has room for it, a new pod could not run either."""
    bed = scene.bed
    uids = scene.uids("pinned")
    told = daemon.eventually(lambda: scene.said("pinned", "not evicted", "cpu"), 60)
    assert told and told["outcome"] == "failed", f"a resize that no node has room for fails: {scene.decisions('pinned', 'cpu')}"
    assert (told and "infeasible on this node: Node didn't have enough capacity: cpu" in told["outcome_text"] and
                "would request 2200m of cpu together" in told["outcome_text"].partition("not evicted")[2]), "and says what the pod needs"
    assert (scene.uids("pinned"), [cgroup_cpu_limit(p) for p in bed.pods("pinned")]) == (uids, [20, 20]), (
        "its pods stay, with the kernel's limit of before")
    generations = [p["metadata"]["generation"] for p in bed.pods("pinned")]
    scene.pass_time(2)
    assert ([p["metadata"]["generation"] for p in bed.pods("pinned")], len(scene.decisions("pinned", "cpu"))) == (generations, 1), (
        "it is neither sent nor decided again and again")


def test_a_disruption_budget_refuses_until_it_allows(scene, story):
    """A PodDisruptionBudget that refuses an eviction."""
    bed = scene.bed
    uids = scene.uids("guarded")
    refused = daemon.eventually(lambda: scene.said("guarded", "is refused by PodDisruptionBudget guarded (The disruption budget guarded needs 2"), 60)
    assert refused, f"the decision names the PodDisruptionBudget that refuses the eviction: {scene.decisions('guarded')}"
    assert refused and refused["outcome"] == "pending" and "memory limit of 65536Mi is more than node real-0 has" in refused["outcome_text"], (
        "says why it is wanted, and is pending")
    assert metric(scene.tautd, 'tautd_kubernetes_evictions_total{result="refused"}') >= 1, "which a counter counts"
    assert (scene.uids("guarded"), scene.events("guarded", "PodEvicted")) == (uids, []), "no pod is lost, and no Event says so"
    bed.kubectl("patch", "pdb", "guarded", "--type=merge", "-p", '{"spec": {"minAvailable": 1}}')
    given = lambda: [limit_of(p) for p in bed.pods("guarded")] == [64 * 1024] * 2  # noqa: E731
    assert daemon.eventually(lambda: given() and not scene.uids("guarded") & uids, 120, 1), (
        f"once it allows it, one pod after the other is evicted, and the new ones have the limit: {(scene.nodes('guarded'), scene.decisions('guarded'))}")
    assert daemon.eventually(lambda: scene.decisions("guarded")[0]["outcome"] == "applied", 20), (
        f"the decision is applied: {scene.decisions('guarded')}")
    assert daemon.eventually(lambda: len(scene.events("guarded", "PodEvicted")) == 2, 10), f"an Event says each eviction: {scene.events('guarded')}"
    assert len(scene.decisions("guarded")) == 1, "it is the only decision"


def test_a_rollout_replaces_the_pods_of_a_trial(scene, story):
    """The pods of a trial are replaced by a rollout; new ones replace them, and the trial ends normally."""
    bed = scene.bed
    limits = lambda: sorted(limit_of(p) for p in bed.pods("tried"))  # noqa: E731
    kernel = lambda: sorted(cgroup_limit(p) or 0 for p in bed.pods("tried"))  # noqa: E731
    trials = lambda: scene.job("tried")["trials"]  # noqa: E731
    scene.set("tried", memory=128, canary__share=0.5, canary__duration="1h", canary__min_task_windows=12)
    scene.pass_time(2)
    scene.set("tried", mode="canary")

    def is_tried():
        scene.pass_time()
        return kernel() == [128, 128, 256, 256]

    assert daemon.eventually(is_tried, 30, 1), f"a lower limit is tried on two of four pods, in their cgroups: {(limits(), scene.decisions('tried'))}"
    before, names = scene.uids("tried"), set(trials()[0]["names"])
    assert {p["metadata"]["name"] for p in bed.pods("tried") if limit_of(p) == 128} == names, "those that the trial names"
    scene.pass_time(3)
    bed.kubectl("rollout", "restart", "deploy/tried")
    bed.kubectl("rollout", "status", "deploy/tried", "--timeout=100s")
    assert daemon.eventually(lambda: len(bed.pods("tried")) == 4 and not scene.uids("tried") & before, 30), (
        f"a rollout replaces all pods: {[p['metadata']['name'] for p in bed.pods('tried')]}")
    assert limits() == [256] * 4, "which start with their template's limit: a trial is none of the webhook"
    assert daemon.eventually(is_tried, 30, 1), f"two of the new pods take the places of those that are gone: {(limits(), kernel(), trials())}"
    now_tried = {p["metadata"]["name"] for p in bed.pods("tried") if limit_of(p) == 128}
    assert set(trials()[0]["names"]) - names == now_tried, "as the trial says"
    assert [d["kind"] for d in scene.decisions("tried")] == ["try"], "it is the same trial"

    def is_set():
        scene.pass_time()
        return kernel() == [128] * 4

    assert daemon.eventually(is_set, 40, 0.5), (
        f"at its end all pods have the limit, in their cgroups: {(kernel(), trials(), scene.decisions('tried'))}")
    assert daemon.eventually(lambda: scene.decisions("tried")[0]["outcome"] == "applied", 20), f"and it is applied: {scene.decisions('tried')}"
    assert [d["kind"] for d in scene.decisions("tried")] == ["promote", "try"], "by one more decision"
    assert {restarts_of(p) for p in bed.pods("tried")} == {0}, "without a restart"
    assert scene.job("tried")["memory"]["owner_limit"] / MIB == 256, "and without taking it for the owner's limit"
    bed.kubectl("delete", "pod", bed.pods("tried")[0]["metadata"]["name"])
    assert daemon.eventually(lambda: limits() == [128] * 4, 20), f"a pod that comes after it starts with the limit: {limits()}"


def compact(bed):
    """Makes etcd forget all versions except the newest of each object."""
    def ask(path, body):
        request = urllib.request.Request(ETCD + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20))

    ask("/v3/kv/compaction", {"revision": ask("/v3/kv/range", {"key": "AA=="})["header"]["revision"], "physical": True})


def restart(bed):
    """Restarts the API server. up.sh starts only missing processes, so the old one must have ended."""
    status = pathlib.Path(f"/proc/{bed.apiserver()}/stat")
    os.kill(bed.apiserver(), signal.SIGKILL)
    daemon.eventually(lambda: not status.exists() or status.read_text().rpartition(") ")[2][0] == "Z", 20)
    bed.up("node")


def test_versions_that_are_forgotten_are_listed_once_more(scene, story):
    """tautd hangs, and the API server restarts; the versions from which tautd would continue are gone then."""
    bed, tautd = scene.bed, scene.tautd
    count = lambda name: metric(tautd, f"tautd_kubernetes_{name}")  # noqa: E731
    lists, orders = count("lists_total"), count("orders")
    limit = limit_of(bed.pods("late")[0])
    os.kill(tautd.popen.pid, signal.SIGSTOP)
    try:
        restart(bed)  # tautd's watches end with what was sent until now
        bed.kubectl("delete", "deployment", "pinned")
        bed.kubectl("delete", "pod", bed.pods("late")[0]["metadata"]["name"])
        assert daemon.eventually(lambda: [restarts_of(p) for p in bed.pods("late")] == [0], 30), (
            f"a pod is created while the webhook hangs: {bed.pods('late')}")
        assert limit_of(bed.pods("late")[0]) == 64, "with what its template says"
        compact(bed)
        restart(bed)  # with caches that begin now
    finally:
        os.kill(tautd.popen.pid, signal.SIGCONT)
    assert daemon.eventually(lambda: "watching pods: the watch ended with 410" in tautd.output(), 60), (
        f"the API server has forgotten the version of the pods, too: {tautd.output()[-600:]}")
    assert daemon.eventually(lambda: cgroup_limit(bed.pods("late")[0]) == limit, 60), (
        f"the pod gets what is ordered for it, in its cgroup: {(bed.pods('late'), tautd.output()[-600:])}")
    known = lambda: len(json.loads(bed.kubectl("get", "pods", "-A", "-o", "json"))["items"])  # noqa: E731
    assert daemon.eventually(lambda: count("pods") == known(), 30), f"those that went meanwhile are gone: {(count('pods'), known())}"
    again = count("lists_total") - lists
    print(f"      {again:.0f} lists; at the start {lists:.0f}")
    assert 0 < again <= lists, f"each kind of object was listed at most once more: {(lists, again)}"
    assert count("orders") == orders, "all orders hold"
    assert daemon.eventually(lambda: [d["outcome"] for d in scene.decisions("late")] == ["applied"], 20), (
        f"without another decision: {scene.decisions('late')}")


def test_after_each_kill_a_pod_has_what_was_decided_once(scene, story):
    """Whatever tautd had written before the kill, the pod ends with the decided limit, set once."""
    bed = scene.bed
    pod = lambda: bed.pods("killed")[0]  # noqa: E731
    name = pod()["metadata"]["name"]
    scene.set("killed", memory=64)
    scene.pass_time(2)
    scene.set("killed", mode="auto")
    wrong = []
    # The first of each two happens while the API server hangs: then tautd's requests get no response.
    delays = (0, 0, 0.01, 0.01, 0.05, 0.05, 0.3, 0.3, 1, 1)
    for number, delay in enumerate(delays):
        amount = 72 + 8 * number
        decided = lambda: [d for d in scene.decisions("killed") if d["after"] == amount * MIB]  # noqa: E731,B023
        hangs = number % 2 == 0
        if hangs:
            os.kill(bed.apiserver(), signal.SIGSTOP)
        try:
            scene.set("killed", memory=amount)
            is_decided = daemon.eventually(decided, 20, 0.002)
            time.sleep(delay)  # the moment of the kill
            scene.tautd.kill()
        finally:
            os.kill(bed.apiserver(), signal.SIGCONT)
        if not is_decided:
            wrong.append(f"{amount} MiB was not decided")
        found = limit_of(pod())
        scene.start()
        scene.pass_time()
        if not daemon.eventually(lambda: cgroup_limit(pod()) == amount and [d["outcome"] for d in decided()] == ["applied"], 40):  # noqa: B023
            wrong.append(f"{amount} MiB: {limit_of(pod())} MiB in the pod, {cgroup_limit(pod())} in its cgroup: {decided()}")
        said = [m for m in scene.events("killed", "LimitSet") if float(re.search(r"-> ([\d.]+) MiB", m)[1]) == amount]
        if len(said) > 1:
            wrong.append(f"{amount} MiB: said {len(said)} times")
        print(f"      killed {delay} s after the decision{', unanswered' * hangs}: the pod had {found} of {amount} MiB, {len(said)} Event", flush=True)
    assert not wrong, f"after each of {len(delays)} kills the pod has what was decided, once"
    assert [d["after"] / MIB for d in reversed(scene.decisions("killed"))] == [72 + 8 * i for i in range(len(delays))], (
        "each limit is one decision, and there are no others")
    scene.pass_time(2)
    assert scene.job("killed")["memory"]["owner_limit"] / MIB == 64, "none of them is taken for the owner's limit"
    assert (pod()["metadata"]["name"], restarts_of(pod())) == (name, 0), "and the container runs on"
    orders = metric(scene.tautd, "tautd_kubernetes_orders")
    assert orders and orders >= 5, "the orders of the other workloads hold as well"
    assert {limit_of(p) for p in bed.pods("guarded")} == {64 * 1024}, "so do their limits"
    assert [len(scene.events(app, "PodEvicted")) for app in ("pair", "guarded", "late")] == [2, 2, 0], (
        "and no pod that had its limit was evicted, wherever the scheduler had put it")
