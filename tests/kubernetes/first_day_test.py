#!/usr/bin/env python3
"""The first minutes of tautd in a real cluster with the defaults: its configuration names the cluster and a rule `mode: auto`, and shortens nothing.

A watch of the test's own records each version of each pod. Nothing is cut; what is opted out from its creation is never written; a crash loop gets more
within seconds of its first kill; kills of Deployments, Jobs and CronJobs are charged once, to the limit and at the time that the kubelet shows; Events
name what the pods got. Then an owner opts out, tautd is killed, and another one with a new store gives back what this one set. Some fifteen minutes.

    TAUT_KUBERNETES=1 BED_BIN=... tests/kubernetes/first_day_test.py --tautd build/release/bin/tautd --taut build/release/bin/taut
"""
import datetime
import http.client
import json
import re
import ssl
import subprocess
import threading
import time

import real_cluster_test
from real_cluster_test import MANIFESTS, MIB, daemon, mebibytes, metric, millicores

OWNERS = 32  # MiB: the limit of the containers that need 90
GROWS = ["sh", "-c", "sleep 4; dd if=/dev/zero of=/dev/null bs=90M count=1 || exit 1; sleep 100000"]
ENDS = ["sh", "-c", "sleep 2; dd if=/dev/zero of=/dev/null bs=90M count=1 || exit 1"]
# (namespace, workload): how its owner opts out
OUT = {("default", "off-workload"): {"annotations": {"tautline.dev/mode": "off"}}, ("default", "observe-container"): {"annotations": {"app.tautline.dev/mode": "observe"}},
       ("default", "off-label"): {"labels": {"tautline.dev/mode": "off"}}, ("closed", "off-namespace"): {},
       ("default", "off-template"): {"of_pods": {"tautline.dev/mode": "off"}}}
RAISED = {("default", "loop"), ("default", "second"), ("bounded", "bounded"), ("default", "burst"), ("default", "tick")}
CONFIG = """actuator: {{kind: kubernetes}}
kubernetes: {{kubeconfig: {kubeconfig}, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1}}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto}}}}
"""


def template(name, memory, command, restart="Always", labels=(), annotations=()):
    resources = {"requests": {"cpu": "20m", "memory": f"{memory // 2}Mi"}, "limits": {"cpu": "200m", "memory": f"{memory}Mi"}}
    container = {"name": "app", "image": "bed.local/busybox:1", "command": command, "resources": resources}
    return {"metadata": {"labels": {"app": name, **dict(labels)}, "annotations": dict(annotations)},
            "spec": {"terminationGracePeriodSeconds": 1, "restartPolicy": restart, "nodeSelector": {"kubernetes.io/hostname": "real-0"}, "containers": [container]}}


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
    """A watch of all pods: what each container was given and when it was killed, in the order in which the API server says it."""

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
        """(time, MiB) of each change of the memory limit of its pods."""
        found = [(at, mebibytes(r["limits"]["memory"])) for (w, _), seen in list(self.resources.items()) if w == workload for at, r in list(seen)]
        return sorted(found)

    def killed(self, workload):
        return sorted(at for w, _, at in list(self.kills) if w == workload)

    def limits_at(self, workload, uid, at):
        """In MiB, of the pod: those of the second of the end, and the one with which it began."""
        seen = [(t, mebibytes(r["limits"]["memory"])) for t, r in self.resources[workload, uid]]
        return {mib for t, mib in seen if at <= t <= at + 1} | set([mib for t, mib in seen if t <= at][-1:] or [seen[0][1]])


def job_of(workload):
    kind = {"burst": "job", "tick": "cronjob"}.get(workload[1], "deployment")
    return f"{workload[0]}/{kind}/{workload[1]}/app"


def start(stage, bed):
    for way in ("observe", "act", "webhook"):
        bed.kubectl("apply", "-f", str(MANIFESTS / way / "rbac.yaml"))
    admission = daemon.free_port()
    bed.call_webhook(stage, admission)
    config = CONFIG.format(kubeconfig=bed.kubeconfig_of_tautd(stage), admission=admission)

    def tautd(store):
        started = stage.tautd(config=config, store=str(stage.dir / store))
        stage.check(daemon.eventually(lambda: metric(started, "tautd_kubernetes_synced") == 1 and started.ask("/readyz").text == "ready\n", 60),
                    f"tautd is ready, with the store {store}", started.output()[-500:])
        return started

    return tautd


def run(stage, bed):
    begin = time.time()
    record = Record(bed)
    start_tautd = start(stage, bed)
    tautd = start_tautd("first.db")
    for some in (namespaces(), workloads()):
        bed.kubectl("apply", "-f", "-", given="\n---\n".join(json.dumps(item) for item in some))
    crash_loop(stage, tautd, record)
    refused(stage, bed)
    runs(stage, bed, record)
    within_bounds(stage, bed, record)
    print(f"      two windows are waited for since {time.time() - begin:.0f} s")
    passed = lambda: (tautd.get("/api/v1/fleet")["time"] or 0) > begin + 330  # noqa: E731
    stage.check(daemon.eventually(passed, 700, 2), "windows close", tautd.get("/api/v1/fleet"))
    nothing_is_cut(stage, bed, tautd, record)
    charged(stage, tautd, record)
    events_are_true(stage, bed, record)
    tautd = released(stage, bed, record, tautd, start_tautd)
    new_store(stage, bed, record, tautd, start_tautd)
    time.sleep(40)  # it knows nothing but what it read
    nothing_is_cut(stage, bed, None, record)
    print(f"      {len(record.kills)} kills, {sum(len(seen) for seen in record.resources.values())} versions of resources, {time.time() - begin:.0f} s")


def crash_loop(stage, tautd, record):
    """A workload is raised at its first kill, of which no window is closed."""
    loop = ("default", "loop")
    stage.check(daemon.eventually(lambda: record.killed(loop), 60), "a container that needs 90 MiB is killed under 32", record.of(loop))
    raised = daemon.eventually(lambda: [at for at, mib in record.of(loop) if mib > OWNERS], 20, 0.05)
    stage.check(raised, "its limit is raised", tautd.output()[-800:])
    took = (raised or [0])[0] - min(at for (w, *_), at in record.kills.items() if w == loop)
    print(f"      raised {took:.2f} s after the API server showed the kill")
    stage.check(took < 2 * daemon.PATIENCE, "within 2 seconds on an idle machine", took)
    stage.check(daemon.eventually(lambda: len(record.of(loop)) > 1 and record.of(loop)[-1][1] > 90, 120), "until it has what it needs", record.of(loop))


def refused(stage, bed):
    """An annotation of pods that asks for what it cannot is not silently left out."""
    said = lambda: [e["message"] for e in events(bed, "default") if e["reason"] == "SettingRefused" and e["involvedObject"]["name"] == "second"]  # noqa: E731
    stage.check(daemon.eventually(said, 30), "an Event says that tautline.dev/mode=never of pods is not used", said())
    stage.check(len(said()) == 1 and "only tautline.dev/mode with off or observe counts there" in said()[0], "once, and what is allowed", said())


def runs(stage, bed, record):
    """Pods that are not restarted: kills of one run raise the next."""
    done = lambda: bed.kubectl("get", "job", "burst", "-o", "jsonpath={.status.succeeded}") == "1"  # noqa: E731
    stage.check(daemon.eventually(done, 200, 1), "a Job of restartPolicy Never ends well, in a later pod", record.of(("default", "burst")))
    stage.check(record.killed(("default", "burst")), "after kills that were seen", record.kills)

    def ended_well():
        items = json.loads(bed.kubectl("get", "jobs", "-o", "json"))["items"]
        return [j for j in items if j["metadata"]["name"].startswith("tick-") and j["status"].get("succeeded")]

    stage.check(daemon.eventually(ended_well, 240, 2), "so does a run of a CronJob", record.of(("default", "tick")))
    stage.check(record.killed(("default", "tick")), "after kills that were seen", record.kills)


def within_bounds(stage, bed, record):
    """What the namespace does not allow is not ordered; what fits is."""
    limits = lambda: {mib for _, mib in record.of(("bounded", "bounded"))}  # noqa: E731
    stage.check(daemon.eventually(lambda: limits() == {OWNERS, 40}, 30), "under a LimitRange of 40 MiB a crash loop gets 40", limits())
    refused = lambda: [e for e in events(bed, "full") if e["reason"] == "LimitNotSet"]  # noqa: E731
    stage.check(daemon.eventually(refused, 30), "where a ResourceQuota leaves nothing the Event says that the limit is not set", events(bed, "full"))
    stage.check(refused() and refused()[0]["type"] == "Warning" and "small" in refused()[0]["message"], "as a warning, with the API server's words", refused())


def events(bed, namespace):
    """Those of tautd."""
    items = json.loads(bed.kubectl("get", "events", "-n", namespace, "-o", "json"))["items"]
    return [e for e in items if e["source"].get("component") == "tautline"]


def nothing_is_cut(stage, bed, tautd, record):
    """Of what the test has recorded until now."""
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
    stage.equal((wrong[:3], wide[:3]), ([], []), "no pod has ever had less than its owner's limit, and CPU is as it was")
    stage.equal(record.written - RAISED, set(), "what is opted out or calm was never written")
    changed = sorted({w for w, _ in record.resources for _, mib in record.of(w) if w not in RAISED and mib not in (OWNERS, 512)} - {("default", "")})
    stage.equal([w for w in changed if w[1]], [], "and has its owner's limits")
    if tautd is None:
        return
    about = [d for d in tautd.get("/api/v1/decisions?limit=1000")["decisions"] if d["kind"] != "would_set"]
    stage.equal({d["kind"] for d in about}, {"oom_raise"}, "every decision is a raise after a kill")
    stage.equal({d["job"] for d in about} - {job_of(w) for w in RAISED | {("full", "full")}}, set(), "of a workload that may be raised")
    for namespace, name in OUT:
        described = bed.kubectl("describe", "deployment", name, "-n", namespace)
        changes = [line for line in described.splitlines() if " tautline " in line and "LimitRecommended" not in line]  # of mode observe
        stage.equal(changes, [], f"kubectl describe shows no change of {name}")


def charged(stage, tautd, record):
    """Each kill that the kubelet showed, once, at its time, to the limit that the pod had."""
    count = lambda: sum(o["kills"] for o in tautd.get("/api/v1/ooms?limit=1000")["ooms"])  # noqa: E731
    stage.check(daemon.eventually(lambda: count() >= len(record.kills), 60, 1), "every kill is charged", (count(), len(record.kills)))
    left, wrong = dict(record.kills), []
    for oom in tautd.get("/api/v1/ooms?limit=1000")["ooms"]:
        found = [k for k in left if job_of(k[0]) == oom["job"] and abs(k[2] - oom["time"]) <= 1]
        if oom["kills"] != 1 or len(found) != 1:
            wrong.append((oom, found))
            continue
        left.pop(found[0])
        if oom["limit"] is None or not any(abs(oom["limit"] / MIB - mib) < 1 for mib in record.limits_at(*found[0])):
            wrong.append((oom, record.limits_at(*found[0])))
    stage.equal(wrong[:3], [], f"each of {len(record.kills)} once, when the container ended, to the limit that its pod had")


def events_are_true(stage, bed, record):
    """What an Event says was set, a pod had."""
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
    stage.check(said >= 4, "Events tell of the raises", said)
    stage.equal(wrong[:3], [], "and each names a limit that a pod was given")


def last_limit(bed, app):
    return mebibytes(bed.pods(app)[0]["spec"]["containers"][0]["resources"]["limits"]["memory"])


def released(stage, bed, record, tautd, start_tautd):
    """tautd is killed right behind a release: no start brings the raise back."""
    loop = ("default", "loop")
    bed.kubectl("annotate", "deployment/loop", "tautline.dev/mode=off")
    stage.check(daemon.eventually(lambda: record.of(loop)[-1][1] == OWNERS, 30, 0.02), "an owner who opts out has the limit of the template", record.of(loop))
    tautd.kill()
    before = len(record.of(loop))
    tautd = start_tautd("first.db")
    time.sleep(20)
    pod = bed.pods("loop")[0]
    # What the kubelet refuses is taken back, and tried again: the container uses more.
    refused = record.refused.get(pod["metadata"]["uid"])
    stage.check(record.of(loop)[before:] == [] or refused, "after a SIGKILL nothing is set again", (record.of(loop), pod["status"]))
    bed.kubectl("delete", "pod", pod["metadata"]["name"])
    new = lambda: [seen for (w, uid), seen in list(record.resources.items()) if w == loop and uid != pod["metadata"]["uid"]]  # noqa: E731
    stage.check(daemon.eventually(new, 60), "a new pod comes", record.of(loop))
    time.sleep(10)
    stage.equal([[mebibytes(r["limits"]["memory"]) for _, r in seen] for seen in new()], [[OWNERS]], "with its template's limit")
    return tautd


def new_store(stage, bed, record, tautd, start_tautd):
    """What is the owner's stands on the objects."""
    second = ("default", "second")
    stage.check(record.of(second)[-1][1] > 90, "another workload is raised", record.of(second))
    stage.equal(tautd.stop(), 0, "tautd stops")
    bed.kubectl("annotate", "deployment/second", "tautline.dev/mode=off")
    start_tautd("second.db")
    stage.check(daemon.eventually(lambda: last_limit(bed, "second") == OWNERS, 120, 1), "one with a new store gives back what the first one set",
                record.of(second))


def main():
    args = daemon.arguments(__doc__.split("\n")[0])
    with daemon.Stage(args) as stage:
        bed = real_cluster_test.Bed(stage, ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet"))
        try:
            bed.up("node")
            run(stage, bed)
        except subprocess.CalledProcessError as e:
            print(e.stderr)
            raise
        finally:
            bed.down()
        stage.finish()


if __name__ == "__main__":
    main()
