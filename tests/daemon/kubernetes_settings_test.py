"""Settings of owners in a cluster of this test's own: no limit is set before annotations, LimitRanges and nodes are known, whether the workload,
the store or tautd is new; labels opt out, an operator's rule caps annotations, and a new workload is raised at its first kill."""
import contextlib
import json
import threading
import time
import urllib.parse

import pytest

import daemon
import fake_cluster

DB = "shop/statefulset/db/app"


class Cluster(fake_cluster.Cluster):
    """A cluster with a StatefulSet beside the Deployment, and lists that may be late."""

    def __init__(self, annotations, labels):
        super().__init__()
        self.deployment["metadata"].update(annotations=annotations, labels=labels)
        self.late = threading.Event()  # set: Deployments are listed
        self.most_mib = 300  # of a container, by the LimitRange
        self.now = False  # usage is of now; else days go by in seconds

    def usage(self):
        if not self.now:
            return super().usage()
        with self.lock:
            return "".join(f'container_memory_working_set_bytes{{container="app",namespace="shop",pod="{name}"}} {20 << 20}\n' for name in self.pods)

    def patched(self):
        """Returns the names of resized pods."""
        with self.lock:
            return sorted({r.split()[1].split("/")[-2] for r in self.requests if r.startswith("PATCH") and "/resize" in r})


class Handler(fake_cluster.Handler):
    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        c = self.cluster
        if "watch" in dict(urllib.parse.parse_qsl(path.query)):
            return super().do_GET()
        items = None
        if path.path == "/apis/apps/v1/deployments":
            c.late.wait(60)
        if path.path == "/apis/apps/v1/statefulsets":
            items = [{"metadata": {"name": "db", "namespace": "shop", "uid": "s-1", "labels": {"tautline.dev/mode": "auto"},
                                   "annotations": {"tautline.dev/memory.lower": "250MiB"}}}]
        if path.path == "/api/v1/limitranges":
            items = [{"metadata": {"name": "small", "namespace": "shop"}, "spec": {"limits": [
                {"type": "Container", "max": {"memory": f"{c.most_mib}Mi"}}]}}]
        if items is None:
            return super().do_GET()
        self.answer(200, json.dumps({"kind": "List", "metadata": {"resourceVersion": str(c.version)}, "items": items}))


@contextlib.contextmanager
def started(stage, annotations, labels=(), memory="512Mi", of_pods=None):
    """Starts a cluster and a configuration. `of_pods`: annotations of the Deployment's pods."""
    cluster = Cluster(annotations, dict(labels))
    cluster.add("web-5d4f8c7b9d-2bxnz", memory, of_pods)
    cluster.add("db-0", memory, {"tautline.dev/mode": "canary"}, owner=("StatefulSet", "db"))
    with fake_cluster.serving(cluster, Handler):
        yield cluster, f"""actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {stage.kubeconfig("kubeconfig", cluster.port)}, scrape_interval: 1s, usage: resource}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}, cap: {{memory.upper: 200MiB}}}}
"""


def decided(tautd):
    """Returns the jobs with a decision."""
    return sorted({d["job"] for d in tautd.get("/api/v1/decisions?limit=1000")["decisions"] if d["kind"] != "would_set"})


@pytest.mark.parametrize("annotations, labels, of_pods", [
    ({"tautline.dev/mode": "off"}, {}, None), ({"app.tautline.dev/mode": "observe", "tautline.dev/mode": "auto"}, {}, None),
    ({"tautline.dev/mode": "auto"}, {"tautline.dev/mode": "off"}, None), ({"tautline.dev/mode": "auto"}, {}, {"app.tautline.dev/mode": "off"})])
def test_a_workload_that_is_opted_out_is_never_touched(stage, annotations, labels, of_pods):
    """A workload that is opted out from its creation, with an empty store."""
    with started(stage, annotations, labels, of_pods=of_pods) as (cluster, config):
        is_never_touched(stage, cluster, config, of_pods)


def is_never_touched(stage, cluster, config, of_pods):
    tautd = stage.tautd(config="clock: samples\n" + config, store="memory")
    assert daemon.eventually(lambda: cluster.seconds > 4 * 86400, 60), f"days of usage go by: {cluster.seconds}"
    assert decided(tautd) == [], "before annotations are listed nothing is decided"
    waits = "no limit is decided before the first list of annotations of Deployments has been read"
    assert daemon.ask(tautd.port, "/readyz").text == f"ready\n{waits}\n", "readiness says so"
    assert waits in tautd.output(), "so does the log"
    cluster.late.set()
    assert daemon.eventually(lambda: "limits are decided" in tautd.output(), 20), f"the log says when they are: {tautd.output()}"
    assert daemon.eventually(lambda: cluster.patched() == ["db-0"], 60), f"then the other workload gets its limit: {cluster.patched()}"
    assert decided(tautd) == [DB], "and nothing is ever decided for the one that is opted out"
    assert cluster.limit("db-0") == 200, "its annotation asks for 250 MiB, and the rule caps that"
    refused = lambda: sorted((e["involvedObject"]["kind"], e["involvedObject"]["name"], e["message"].split(" is not used")[0])  # noqa: E731
                             for e in cluster.said if e["reason"] == "SettingRefused")
    both = [("StatefulSet", "db", "The annotation tautline.dev/mode=canary of its pods"), ("StatefulSet", "db", "The label tautline.dev/mode=auto")]
    assert daemon.eventually(lambda: refused() == both, 20), (
        f"a label, or an annotation of a pod, that asks for more is refused with an Event: {refused()}")
    cluster.add("web-5d4f8c7b9d-4vqtr", annotations=of_pods)
    seen = cluster.seconds
    assert daemon.eventually(lambda: cluster.seconds > seen + 86400, 60), f"another day goes by: {cluster.seconds}"
    assert (cluster.patched(), decided(tautd)) == (["db-0"], [DB]), "nor for a pod that comes later"
    assert tautd.stop() == 0, "tautd stops"


def test_a_new_workload_is_raised_at_its_first_kill(stage):
    """No window of the workloads is closed, and the clock is the wall clock."""
    with started(stage, {"tautline.dev/mode": "off"}, memory="32Mi") as (cluster, config):
        is_raised_at_once(stage, cluster, config)


def is_raised_at_once(stage, cluster, config):
    cluster.now, cluster.most_mib = True, 100
    cluster.late.set()
    tautd = stage.tautd(config=config, store="memory")
    assert daemon.eventually(lambda: daemon.ask(tautd.port, "/readyz").text == "ready\n", 30), f"the lists are read: {tautd.output()}"
    fake_cluster.await_pods(tautd, cluster)  # as they are before they are killed
    killed = time.monotonic()
    for pod in ("web-5d4f8c7b9d-2bxnz", "db-0"):
        cluster.kill_for_memory(pod, seconds_ago=fake_cluster.START + cluster.seconds - time.time())
    assert daemon.eventually(lambda: "db-0" in cluster.patched(), 20, pause=0.05), f"a kill raises at once: {tautd.output()}"
    took = time.monotonic() - killed
    assert took < 2 * daemon.PATIENCE, "within 2 seconds on an idle machine"
    assert cluster.limit("db-0") == 100, "as far as the LimitRange allows"
    both = lambda: sum("oom_kill" in line for line in tautd.output().splitlines()) == 2  # noqa: E731
    assert daemon.eventually(both, 20), f"both kills are in the log: {tautd.output()}"
    log = [line for line in tautd.output().splitlines() if "oom_kill" in line]
    assert len(log) == 2 and all("limit=33554432" in line for line in log), f"the kills were at the limits of the pods: {log}"
    assert cluster.patched() == ["db-0"], "the workload that is opted out stays as it is"
    assert tautd.stop() == 0, "tautd stops"
