#!/usr/bin/env python3
"""Settings of owners in a cluster of this test's own: no limit is set before annotations, LimitRanges and nodes are known, whether the workload,
the store or tautd is new; labels opt out, an operator's rule caps annotations, and a new workload is raised at its first kill."""
import json
import threading
import time
import urllib.parse

import daemon
import kubernetes_test
from kubernetes_test import Server

DB = "shop/statefulset/db/app"


class Cluster(kubernetes_test.Cluster):
    """With a StatefulSet beside the Deployment, and lists that may be late."""

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
        """Names of pods that were resized."""
        with self.lock:
            return sorted({r.split()[1].split("/")[-2] for r in self.requests if r.startswith("PATCH") and "/resize" in r})


class Handler(kubernetes_test.Handler):
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


def start(stage, server, annotations, labels=(), memory="512Mi", of_pods=None):
    """`of_pods`: annotations of the Deployment's pods."""
    Handler.cluster = Cluster(annotations, dict(labels))
    Handler.cluster.add("web-5d4f8c7b9d-2bxnz", memory, of_pods)
    Handler.cluster.add("db-0", memory, {"tautline.dev/mode": "canary"}, owner=("StatefulSet", "db"))
    kubeconfig = stage.kubeconfig("kubeconfig", server.server_address[1])
    return Handler.cluster, f"""actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, usage: resource}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}, cap: {{memory.upper: 200MiB}}}}
"""


def decided(tautd):
    """Jobs for which anything was to be set."""
    return sorted({d["job"] for d in tautd.get("/api/v1/decisions?limit=1000")["decisions"] if d["kind"] != "would_set"})


def opt_out(stage, server, annotations, labels, of_pods=None):
    """A workload that is opted out from its creation, in a store that knows nothing of it."""
    cluster, config = start(stage, server, annotations, labels, of_pods=of_pods)
    tautd = stage.tautd(config="clock: samples\n" + config, store="memory")
    stage.check(daemon.eventually(lambda: cluster.seconds > 4 * 86400, 60), "days of usage go by", cluster.seconds)
    stage.equal(decided(tautd), [], "before annotations are listed nothing is decided")
    waits = "no limit is decided before the first list of annotations of Deployments has been read"
    stage.equal(daemon.ask(tautd.port, "/readyz").text, f"ready\n{waits}\n", "readiness says so")
    stage.check(waits in tautd.output(), "so does the log", tautd.output())
    cluster.late.set()
    stage.check(daemon.eventually(lambda: "limits are decided" in tautd.output(), 20), "the log says when they are", tautd.output())
    stage.check(daemon.eventually(lambda: cluster.patched() == ["db-0"], 60), "then the other workload gets its limit", cluster.patched())
    stage.equal(decided(tautd), [DB], "and nothing is ever decided for the one that is opted out")
    stage.equal(cluster.limit("db-0"), 200, "its annotation asks for 250 MiB, and the rule caps that")
    refused = lambda: sorted((e["involvedObject"]["kind"], e["involvedObject"]["name"], e["message"].split(" is not used")[0])  # noqa: E731
                             for e in cluster.said if e["reason"] == "SettingRefused")
    both = [("StatefulSet", "db", "The annotation tautline.dev/mode=canary of its pods"), ("StatefulSet", "db", "The label tautline.dev/mode=auto")]
    stage.check(daemon.eventually(lambda: refused() == both, 20), "a label, or an annotation of a pod, that asks for more is refused with an Event", refused())
    cluster.add("web-5d4f8c7b9d-4vqtr", annotations=of_pods)
    seen = cluster.seconds
    stage.check(daemon.eventually(lambda: cluster.seconds > seen + 86400, 60), "another day goes by", cluster.seconds)
    stage.equal((cluster.patched(), decided(tautd)), (["db-0"], [DB]), "nor for a pod that comes later")
    stage.equal(tautd.stop(), 0, "tautd stops")


def crash_loop(stage, server):
    """No window of the workloads is closed, and the clock is the wall's."""
    cluster, config = start(stage, server, {"tautline.dev/mode": "off"}, memory="32Mi")
    cluster.now, cluster.most_mib = True, 100
    cluster.late.set()
    tautd = stage.tautd(config=config, store="memory")
    stage.check(daemon.eventually(lambda: daemon.ask(tautd.port, "/readyz").text == "ready\n", 30), "the lists are read", tautd.output())
    time.sleep(2)  # pods are seen as they are before they are killed
    killed = time.monotonic()
    for pod in ("web-5d4f8c7b9d-2bxnz", "db-0"):
        cluster.kill_for_memory(pod, seconds_ago=kubernetes_test.START + cluster.seconds - time.time())
    stage.check(daemon.eventually(lambda: "db-0" in cluster.patched(), 20, pause=0.05), "a kill raises at once", tautd.output())
    took = time.monotonic() - killed
    stage.check(took < 2 * daemon.PATIENCE, "within 2 seconds on an idle machine", took)
    stage.equal(cluster.limit("db-0"), 100, "as far as the LimitRange allows")
    both = lambda: sum("oom_kill" in line for line in tautd.output().splitlines()) == 2  # noqa: E731
    stage.check(daemon.eventually(both, 20), "both kills are in the log", tautd.output())
    log = [line for line in tautd.output().splitlines() if "oom_kill" in line]
    stage.check(len(log) == 2 and all("limit=33554432" in line for line in log), "the kills were at the limits of the pods", log)
    stage.equal(cluster.patched(), ["db-0"], "the workload that is opted out stays as it is")
    stage.equal(tautd.stop(), 0, "tautd stops")


def main():
    args = daemon.arguments(__doc__.split("\n")[0])
    with daemon.Stage(args) as stage:
        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for how in (({"tautline.dev/mode": "off"}, {}), ({"app.tautline.dev/mode": "observe", "tautline.dev/mode": "auto"}, {}),
                    ({"tautline.dev/mode": "auto"}, {"tautline.dev/mode": "off"}), ({"tautline.dev/mode": "auto"}, {}, {"app.tautline.dev/mode": "off"})):
            opt_out(stage, server, *how)
        crash_loop(stage, server)
        server.shutdown()
        stage.finish()


if __name__ == "__main__":
    main()
