#!/usr/bin/env python3
"""Two tautd with stores of their own share a Lease. The holder is killed, the other one takes over, and later the first one comes back:
no order of before is carried out, neither by the one that follows nor by the one that comes back, whatever its store says."""
import json
import threading
import time
import urllib.parse

import daemon
import kubernetes_test
from kubernetes_test import JOB, decisions, metric

OWNERS = 1024  # MiB, in the Deployment's template
POD = "web-5d4f8c7b9d-2bxnz"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/tautline/leases"
OFF = {"tautline.dev/mode": "off"}


class Handler(kubernetes_test.Handler):
    lease, lease_version = None, 0

    def write_lease(self, body, status):
        cls = type(self)
        cls.lease_version += 1
        cls.lease = {"metadata": {"name": "tautd", "resourceVersion": str(cls.lease_version)}, "spec": {**(cls.lease or {}).get("spec", {}), **body["spec"]}}
        self.answer(status, json.dumps(cls.lease))

    def do_GET(self):
        if not urllib.parse.urlsplit(self.path).path.startswith(LEASES):
            return super().do_GET()
        with self.cluster.lock:
            lease = self.lease
        self.answer(200, json.dumps(lease)) if lease else self.answer(404, json.dumps({"kind": "Status", "message": "not found"}))

    def do_POST(self):
        if not urllib.parse.urlsplit(self.path).path.startswith(LEASES):
            return super().do_POST()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.cluster.lock:
            if self.lease:
                return self.answer(409, json.dumps({"kind": "Status", "message": "already exists"}))
            self.write_lease(body, 201)

    def do_PATCH(self):
        if not urllib.parse.urlsplit(self.path).path.startswith(LEASES):
            return super().do_PATCH()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.cluster.lock:
            if body["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
                return self.answer(409, json.dumps({"kind": "Status", "message": "the object has been modified"}))
            self.write_lease(body, 200)


def main():
    args = daemon.arguments(__doc__)
    cluster = kubernetes_test.Cluster()
    handler = type("LeaseHandler", (Handler,), {"cluster": cluster})
    with daemon.Stage(args) as stage:
        server = kubernetes_test.Server(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        run(stage, cluster, server.server_address[1])
        server.shutdown()
        stage.finish()


def run(stage, cluster, port):
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {stage.kubeconfig("kubeconfig", port)}, scrape_interval: 1s, lease: tautline/tautd}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""
    cluster.template_memory = f"{OWNERS}Mi"
    cluster.add(POD, f"{OWNERS}Mi")
    limit = lambda: cluster.limit(POD)  # noqa: E731
    holds = lambda tautd: metric(tautd, "tautd_kubernetes_lease_held") == 1  # noqa: E731
    start = lambda name: stage.tautd(config=config, store=str(stage.dir / name))  # noqa: E731

    def keeps(wanted, until, what):
        """Nothing but `wanted` is in force until `until()` is true, and for some seconds more."""
        seen, done = set(), [False]

        def look():
            seen.add(limit())
            return until()

        done[0] = daemon.eventually(look, 40, 0.05)
        daemon.eventually(lambda: seen.add(limit()), 6 / daemon.PATIENCE, 0.05)
        stage.check(done[0], f"{what}: the other one takes the Lease")
        stage.equal(seen, {wanted}, f"{what}: the pod keeps its limit")

    begin_s = cluster.scrape_seconds  # of the first day, which goes by in some seconds

    def is_lowered(what, scrape_seconds=600):
        cluster.scrape_seconds = scrape_seconds
        stage.check(daemon.eventually(lambda: limit() < 0.9 * OWNERS, 60), what, limit())
        cluster.scrape_seconds = 60

    def opts_out(what):
        cluster.annotate(OFF)
        stage.check(daemon.eventually(lambda: limit() == OWNERS, 30), what, limit())

    first = start("first.db")
    is_lowered("the first one sets a limit", begin_s)
    second = start("second.db")
    cluster.scrape_seconds = begin_s
    own = lambda: [d for d in decisions(second) if d["job"] == JOB and d["kind"] == "set"]  # noqa: E731
    stage.check(daemon.eventually(own, 60) and all(d["outcome"] == "pending" for d in own()), "the second one decides, and does not act")
    stage.check(holds(first) and not holds(second), "the first one holds the Lease")
    cluster.scrape_seconds = 60

    # ---- the holder is killed behind an opt-out ----
    opts_out("the owner opts out, and has its limit back")
    first.kill()
    keeps(OWNERS, lambda: holds(second), "the holder was killed")
    cluster.annotate({})
    is_lowered("without the annotation the second one lowers the limit")

    # ---- it comes back, with what it held before ----
    first = start("first.db")
    stage.check(daemon.eventually(lambda: metric(first, "tautd_kubernetes_synced") == 1, 20) and not holds(first), "it comes back without the Lease")
    first.kill()
    opts_out("the owner opts out while it is away")
    first = start("first.db")
    second.kill()
    keeps(OWNERS, lambda: holds(first), "and back")
    cluster.annotate({})
    is_lowered("without the annotation the first one lowers the limit again")

    # ---- a stop hands the Lease over at once ----
    second = start("second.db")
    stage.check(daemon.eventually(lambda: metric(second, "tautd_kubernetes_synced") == 1, 20), "the second one is back")
    stage.equal(first.stop(), 0, "the first one stops")
    begin = time.monotonic()
    stage.check(daemon.eventually(lambda: holds(second), 12), "the second one takes the Lease")
    stage.check(time.monotonic() - begin < 12, "at once, and not when it has run out", time.monotonic() - begin)


if __name__ == "__main__":
    main()
