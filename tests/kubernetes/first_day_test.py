"""The first minutes of tautd in a real cluster with the defaults: its configuration names the cluster and a rule `mode: auto`, and shortens nothing.

A watch of the test's own records each version of each pod. Nothing is cut; what is opted out from its creation is never written; a crash loop gets more
within seconds of its first kill; kills of Deployments, Jobs and CronJobs are charged once, to the limit and at the time that the kubelet shows; Events
name what the pods got. Then an owner opts out, tautd is killed, and another one with a new store gives back what this one set. Some fifteen minutes.
"""
import datetime
import http.client
import json
import re
import ssl
import threading
import time

import pytest

import daemon
from daemon import metric
from bed import MANIFESTS, MIB, mebibytes, millicores, up
from fake_cluster import await_scrapes
from first_day import CONFIG, template

OWNERS = 32  # MiB: the limit of the containers that need 90
GROWS = ["sh", "-c", "sleep 4; dd if=/dev/zero of=/dev/null bs=90M count=1 || exit 1; sleep 100000"]
ENDS = ["sh", "-c", "sleep 2; dd if=/dev/zero of=/dev/null bs=90M count=1 || exit 1"]
# (namespace, workload): how its owner opts out
OUT = {("default", "off-workload"): {"annotations": {"tautline.dev/mode": "off"}}, ("default", "observe-container"): {"annotations": {"app.tautline.dev/mode": "observe"}},
       ("default", "off-label"): {"labels": {"tautline.dev/mode": "off"}}, ("closed", "off-namespace"): {},
       ("default", "off-template"): {"of_pods": {"tautline.dev/mode": "off"}}}
RAISED = {("default", "loop"), ("default", "second"), ("bounded", "bounded"), ("default", "burst"), ("default", "tick")}
def deployment(name, namespace="default", memory=OWNERS, command=GROWS, annotations=(), labels=(), of_pods=()):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace, "annotations": dict(annotations)},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": template(name, memory, command, labels=labels, annotations=of_pods)}}


def workloads():
    job = {"backoffLimit": 6, "template": template("burst", OWNERS, ENDS, "Never")}
    run = {"backoffLimit": 0, "template": template("tick", OWNERS, ENDS, "Never")}
    return [deployment("calm", memory=512, command=["sleep", "100000"]), deployment("loop"), deployment("second", of_pods={"tautline.dev/mode": "never"}), deployment("bounded", "bounded"),
            deployment("full", "full"), *(deployment(name, namespace, **how) for (namespace, name), how in OUT.items()),
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "burst", "namespace": "default"}, "spec": job},
            {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick", "namespace": "default"},
             "spec": {"schedule": "* * * * *", "concurrencyPolicy": "Allow", "jobTemplate": {"spec": run}}}]


def namespaces():
    limits = {"limits": [{"type": "Container", "max": {"memory": "40Mi"}}]}
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "closed", "annotations": {"tautline.dev/mode": "off"}}},
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bounded"}}, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "full"}},
            {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small", "namespace": "bounded"}, "spec": limits},
            {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small", "namespace": "full"}, "spec": {"hard": {"limits.memory": f"{OWNERS}Mi"}}}]


class Record(threading.Thread):
    """A watch of all pods: the limits and kills of each container, in the API server's order."""

    def __init__(self, bed):
        super().__init__(daemon=True)
        pki = bed.config.parent / "pki"
        context = ssl.create_default_context(cafile=pki / "ca.crt")
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        port = int(re.search(r"https://127\.0\.0\.1:(\d+)", bed.config.read_text())[1])
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=3600)
        self.connection.request("GET", "/api/v1/pods?watch=true&timeoutSeconds=3600")
        self.events = self.connection.getresponse()
        self.resources = {}  # by (namespace, workload), pod's UID: (time, resources of app), as they changed
        self.kills = {}  # (namespace, workload), pod's UID, end in seconds: when it was seen
        self.written = set()  # (namespace, workload) of pods that tautline changed
        self.refused = {}  # by pod's UID: why its kubelet did not lower its memory limit, as it says it
        self.start()

    def run(self):
        for line in self.events:
            self.note(json.loads(line)["object"], time.time())

    def note(self, pod, now):
        workload = (pod["metadata"]["namespace"], pod["metadata"].get("labels", {}).get("app", ""))
        uid = pod["metadata"]["uid"]
        if any(f["manager"].startswith("tautline") for f in pod["metadata"].get("managedFields", [])) or \
                any(key.startswith("tautline.dev/owner") for key in pod["metadata"].get("annotations", {})):
            self.written.add(workload)
        seen = self.resources.setdefault((workload, uid), [])
        resources = pod["spec"]["containers"][0]["resources"]
        if not seen or seen[-1][1] != resources:
            seen.append((now, resources))
        for condition in pod["status"].get("conditions", []):
            if "cannot decrease memory limits" in condition.get("message", ""):
                self.refused[uid] = condition["message"]
        for status in pod["status"].get("containerStatuses", []):
            for state in (status.get("state", {}), status.get("lastState", {})):
                end = state.get("terminated") or {}
                if end.get("reason") == "OOMKilled":
                    at = int(datetime.datetime.fromisoformat(end["finishedAt"].replace("Z", "+00:00")).timestamp())
                    self.kills.setdefault((workload, uid, at), now)

    def of(self, workload):
        """Returns (time, MiB) of each change of the memory limit of its pods."""
        found = [(at, mebibytes(r["limits"]["memory"])) for (w, _), seen in list(self.resources.items()) if w == workload for at, r in list(seen)]
        return sorted(found)

    def killed(self, workload):
        return sorted(at for w, _, at in list(self.kills) if w == workload)

    def limits_at(self, workload, uid, at):
        """Returns the pod's limits in MiB: those in the second of the end, and the first one."""
        seen = [(t, mebibytes(r["limits"]["memory"])) for t, r in self.resources[workload, uid]]
        return {mib for t, mib in seen if at <= t <= at + 1} | set([mib for t, mib in seen if t <= at][-1:] or [seen[0][1]])


def job_of(workload):
    kind = {"burst": "job", "tick": "cronjob"}.get(workload[1], "deployment")
    return f"{workload[0]}/{kind}/{workload[1]}/app"


@pytest.fixture(scope="module")
def bed(stage):
    with up(stage, "node") as its:
        yield its


@pytest.fixture(scope="module")
def record(bed):
    return Record(bed)


@pytest.fixture(scope="module")
def start_tautd(stage, bed, record):
    for way in ("observe", "act", "webhook"):
        bed.kubectl("apply", "-f", str(MANIFESTS / way / "rbac.yaml"))
    admission = daemon.free_port()
    bed.call_webhook(admission)
    config = CONFIG.format(kubeconfig=bed.kubeconfig_of_tautd(stage), admission=admission)

    def start(store):
        started = stage.tautd(config=config, store=str(stage.dir / store))
        assert daemon.eventually(lambda: metric(started, "tautd_kubernetes_synced") == 1 and started.ask("/readyz").text == "ready\n", 60), (
            f"tautd is ready, with the store {store}: {started.output()[-500:]}")
        return started

    return start


def test_a_crash_loop_is_raised_at_its_first_kill(bed, record, start_tautd, story):
    """A workload is raised at its first kill, before any window is closed."""
    story.begin = time.time()
    story.tautd = start_tautd("first.db")
    for some in (namespaces(), workloads()):
        bed.kubectl("apply", "-f", "-", given="\n---\n".join(json.dumps(item) for item in some))
    loop = ("default", "loop")
    assert daemon.eventually(lambda: record.killed(loop), 60), f"a container that needs 90 MiB is killed under 32: {record.of(loop)}"
    raised = daemon.eventually(lambda: [at for at, mib in record.of(loop) if mib > OWNERS], 20, 0.05)
    assert raised, f"its limit is raised: {story.tautd.output()[-800:]}"
    took = (raised or [0])[0] - min(at for (w, *_), at in record.kills.items() if w == loop)
    print(f"      raised {took:.2f} s after the API server showed the kill")
    assert took < 2 * daemon.PATIENCE, "within 2 seconds on an idle machine"
    assert daemon.eventually(lambda: len(record.of(loop)) > 1 and record.of(loop)[-1][1] > 90, 120), f"until it has what it needs: {record.of(loop)}"


def test_a_setting_that_pods_cannot_have_is_an_event(bed, story):
    """An annotation of pods with an impossible value is not ignored silently."""
    said = lambda: [e["message"] for e in events(bed, "default") if e["reason"] == "SettingRefused" and e["involvedObject"]["name"] == "second"]  # noqa: E731
    assert daemon.eventually(said, 30), f"an Event says that tautline.dev/mode=never of pods is not used: {said()}"
    assert len(said()) == 1 and "only tautline.dev/mode with off or observe counts there" in said()[0], "once, and what is allowed"


def test_kills_of_one_run_raise_the_next(bed, record, story):
    """With pods that are not restarted, kills of one run raise the next."""
    done = lambda: bed.kubectl("get", "job", "burst", "-o", "jsonpath={.status.succeeded}") == "1"  # noqa: E731
    assert daemon.eventually(done, 200, 1), f"a Job of restartPolicy Never ends well, in a later pod: {record.of(('default', 'burst'))}"
    assert record.killed(("default", "burst")), f"after kills that were seen: {record.kills}"

    def ended_well():
        items = json.loads(bed.kubectl("get", "jobs", "-o", "json"))["items"]
        return [j for j in items if j["metadata"]["name"].startswith("tick-") and j["status"].get("succeeded")]

    assert daemon.eventually(ended_well, 240, 2), f"so does a run of a CronJob: {record.of(('default', 'tick'))}"
    assert record.killed(("default", "tick")), f"after kills that were seen: {record.kills}"


def test_what_a_namespace_does_not_allow_is_not_ordered(bed, record, story):
    """A limit that the namespace does not allow is not ordered; one that fits is."""
    limits = lambda: {mib for _, mib in record.of(("bounded", "bounded"))}  # noqa: E731
    assert daemon.eventually(lambda: limits() == {OWNERS, 40}, 30), f"under a LimitRange of 40 MiB a crash loop gets 40: {limits()}"
    refused = lambda: [e for e in events(bed, "full") if e["reason"] == "LimitNotSet"]  # noqa: E731
    assert daemon.eventually(refused, 30), f"where a ResourceQuota leaves nothing the Event says that the limit is not set: {events(bed, 'full')}"
    assert refused() and refused()[0]["type"] == "Warning" and "small" in refused()[0]["message"], "as a warning, with the API server's words"


def events(bed, namespace):
    """Returns tautd's events."""
    items = json.loads(bed.kubectl("get", "events", "-n", namespace, "-o", "json"))["items"]
    return [e for e in items if e["source"].get("component") == "tautline"]


def test_nothing_is_cut_in_the_first_windows(bed, record, story):
    passed = lambda: (story.tautd.get("/api/v1/fleet")["time"] or 0) > story.begin + 330  # noqa: E731
    assert daemon.eventually(passed, 700, 2), f"windows close: {story.tautd.get('/api/v1/fleet')}"
    nothing_is_cut(bed, story.tautd, record)


def nothing_is_cut(bed, tautd, record):
    """Checks that no recorded limit is below its owner's."""
    wrong, wide = [], []
    for (workload, _), seen in record.resources.items():
        if workload[1] == "":
            continue
        owners = seen[0][1] if workload not in RAISED else {"limits": {"memory": f"{OWNERS}Mi", "cpu": "200m"}}
        for _, resources in seen:
            if mebibytes(resources["limits"]["memory"]) < mebibytes(owners["limits"]["memory"]) or millicores(resources["limits"]["cpu"]) != 200:
                wrong.append((workload, resources))
            if millicores(resources["requests"]["cpu"]) != 20 or set(resources) - {"limits", "requests"}:
                wide.append((workload, resources))
    assert (wrong[:3], wide[:3]) == ([], []), "no pod has ever had less than its owner's limit, and CPU is as it was"
    assert record.written - RAISED == set(), "what is opted out or calm was never written"
    changed = sorted({w for w, _ in record.resources for _, mib in record.of(w) if w not in RAISED and mib not in (OWNERS, 512)} - {("default", "")})
    assert [w for w in changed if w[1]] == [], "and has its owner's limits"
    if tautd is None:
        return
    about = [d for d in tautd.get("/api/v1/decisions?limit=1000")["decisions"] if d["kind"] != "would_set"]
    assert {d["kind"] for d in about} == {"oom_raise"}, "every decision is a raise after a kill"
    assert {d["job"] for d in about} - {job_of(w) for w in RAISED | {("full", "full")}} == set(), "of a workload that may be raised"
    for namespace, name in OUT:
        described = bed.kubectl("describe", "deployment", name, "-n", namespace)
        changes = [line for line in described.splitlines() if " tautline " in line and "LimitRecommended" not in line]  # of mode observe
        assert changes == [], f"kubectl describe shows no change of {name}"


def test_each_kill_is_charged_once_at_its_time(record, story):
    """Each kill that the kubelet showed, once, at its time, to the limit that the pod had."""
    count = lambda: sum(o["kills"] for o in story.tautd.get("/api/v1/ooms?limit=1000")["ooms"])  # noqa: E731
    assert daemon.eventually(lambda: count() >= len(record.kills), 60, 1), f"every kill is charged: {(count(), len(record.kills))}"
    left, wrong = dict(record.kills), []
    for oom in story.tautd.get("/api/v1/ooms?limit=1000")["ooms"]:
        found = [k for k in left if job_of(k[0]) == oom["job"] and abs(k[2] - oom["time"]) <= 1]
        if oom["kills"] != 1 or len(found) != 1:
            wrong.append((oom, found))
            continue
        left.pop(found[0])
        if oom["limit"] is None or not any(abs(oom["limit"] / MIB - mib) < 1 for mib in record.limits_at(*found[0])):
            wrong.append((oom, record.limits_at(*found[0])))
    assert wrong[:3] == [], f"each of {len(record.kills)} once, when the container ended, to the limit that its pod had"


def test_events_name_what_pods_got(bed, record, story):
    """The limits in Events are limits that a pod had."""
    said, wrong = 0, []
    for namespace in ("default", "bounded", "full", "closed"):
        for event in events(bed, namespace):
            amount = re.search(r"memory limit \S+ \S+ -> ([\d.]+) MiB", event["message"])
            if event["reason"] in ("LimitNotSet", "LimitRecommended", "SettingRefused"):
                continue
            said += amount is not None
            name = event["involvedObject"]["name"]
            if amount is None or not any(abs(float(amount[1]) - mib) < 1 for _, mib in record.of((namespace, name))):
                wrong.append((event["reason"], event["message"], record.of((namespace, name))))
    assert said >= 4, "Events tell of the raises"
    assert wrong[:3] == [], "and each names a limit that a pod was given"


def last_limit(bed, app):
    return mebibytes(bed.pods(app)[0]["spec"]["containers"][0]["resources"]["limits"]["memory"])


def test_a_kill_behind_a_release_brings_nothing_back(bed, record, start_tautd, story):
    """tautd is killed right after a release: no start restores the raise."""
    loop = ("default", "loop")
    bed.kubectl("annotate", "deployment/loop", "tautline.dev/mode=off")
    assert daemon.eventually(lambda: record.of(loop)[-1][1] == OWNERS, 30, 0.02), (
        f"an owner who opts out has the limit of the template: {record.of(loop)}")
    story.tautd.kill()
    before = len(record.of(loop))
    story.tautd = start_tautd("first.db")
    await_scrapes(story.tautd, 2)
    pod = bed.pods("loop")[0]
    # An order that the kubelet refuses is reverted and repeated: the container uses more.
    refused = record.refused.get(pod["metadata"]["uid"])
    assert record.of(loop)[before:] == [] or refused, f"after a SIGKILL nothing is set again: {(record.of(loop), pod['status'])}"
    bed.kubectl("delete", "pod", pod["metadata"]["name"])
    new = lambda: [seen for (w, uid), seen in list(record.resources.items()) if w == loop and uid != pod["metadata"]["uid"]]  # noqa: E731
    assert daemon.eventually(new, 60), f"a new pod comes: {record.of(loop)}"
    given = lambda: [[mebibytes(r["limits"]["memory"]) for _, r in seen] for seen in new()]  # noqa: E731
    assert not daemon.eventually(lambda: given() != [[OWNERS]], 10 / daemon.PATIENCE, 0.5), f"with its template's limit, for good: {given()}"


def test_another_store_gives_back_what_this_one_set(bed, record, start_tautd, story):
    """The owner's values are stored on the objects."""
    second = ("default", "second")
    assert record.of(second)[-1][1] > 90, "another workload is raised"
    assert story.tautd.stop() == 0, "tautd stops"
    bed.kubectl("annotate", "deployment/second", "tautline.dev/mode=off")
    second_tautd = start_tautd("second.db")
    assert daemon.eventually(lambda: last_limit(bed, "second") == OWNERS, 120, 1), (
        f"one with a new store gives back what the first one set: {record.of(second)}")
    await_scrapes(second_tautd, 3)  # it knows nothing but what it read
    nothing_is_cut(bed, None, record)
    print(f"      {len(record.kills)} kills, {sum(len(seen) for seen in record.resources.values())} versions of resources")
