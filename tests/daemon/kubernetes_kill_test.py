#!/usr/bin/env python3
"""tautd is killed with SIGKILL after a release and after a raise, before its next window closes: no start brings an older order back, neither to
the pods that are there nor to new ones. A tautd with another store gives back what this one has set, and a forged annotation is not believed."""
import base64
import copy
import http.client
import json
import ssl
import threading
import time

import daemon
import kubernetes_test
from kubernetes_test import JOB, Server, decisions, owners_limit, review, setting

OWNERS = 1024  # MiB, in the Deployment's template
POD = "web-5d4f8c7b9d-2bxnz"


class Cluster(kubernetes_test.Cluster):
    def __init__(self):
        super().__init__()
        self.kernel = {}  # bytes, by pod: the memory limit of its cgroup, where its kubelet reports one

    def usage(self):
        text = super().usage()
        for pod, limit in list(self.kernel.items()):
            text += f'container_spec_memory_limit_bytes{{container="",id="/kubepods/burstable/poduid-{pod}",image="",name="",namespace="shop",pod="{pod}"}} {limit}\n'
        return text

    def resize(self, name, patch):
        super().resize(name, patch)
        if name in self.kernel:
            self.kernel[name] = int(self.limit(name) * kubernetes_test.MIB)

    def admitted(self):
        """The limit with which a new pod starts, in MiB."""
        with self.lock:
            bundle = base64.b64decode(self.webhook["webhooks"][0]["clientConfig"]["caBundle"]).decode()
        connection = http.client.HTTPSConnection("127.0.0.1", self.webhook_port, context=ssl.create_default_context(cadata=bundle), timeout=10)
        connection.request("POST", "/admit", json.dumps(review(f"{OWNERS}Mi")), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["response"]
        changes = {o["path"]: o["value"] for o in json.loads(base64.b64decode(answer.get("patch", "W10=")))}
        return kubernetes_test.mebibytes(changes.get("/spec/containers/0/resources/limits/memory", f"{OWNERS}Mi"))


def main():
    args = daemon.arguments(__doc__)
    cluster = Cluster()
    handler = type("Handler", (kubernetes_test.Handler,), {"cluster": cluster})
    with daemon.Stage(args) as stage:
        server = Server(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        run(stage, cluster, server.server_address[1])
        server.shutdown()
        stage.finish()


def run(stage, cluster, port):
    kubeconfig = stage.kubeconfig("kubeconfig", port)
    cluster.webhook_port = daemon.free_port()
    config = f"""clock: samples
actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s, admission: {{listen: 127.0.0.1:{cluster.webhook_port}, name: 127.0.0.1}}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto, recommender: moving_window}}}}
"""
    store = str(stage.dir / "tautd.db")
    cluster.template_memory = f"{OWNERS}Mi"
    cluster.add(POD, f"{OWNERS}Mi")
    tautd = stage.tautd(config=config, store=store)
    limit = lambda: cluster.limit(POD)  # noqa: E731
    stage.check(daemon.eventually(lambda: limit() < 300, 60), "a container of 20 MiB gets less than its 1024 MiB", limit())

    def settle():
        """Time nearly stands still: no window closes, and nothing more is decided than what is asked for."""
        cluster.scrape_seconds = 60
        stage.check(daemon.eventually(lambda: all(d["outcome"] != "pending" for d in decisions(tautd)), 20), "all decisions are applied")
        time.sleep(6)  # a window closes, with a checkpoint of what holds now
        cluster.scrape_seconds = 2

    def restarted(wanted, what):
        """Killed, started again, and for some seconds nothing but `wanted` is in force."""
        tautd.kill()
        again = stage.tautd(config=config, store=store)
        stage.check(daemon.eventually(lambda: kubernetes_test.metric(again, "tautd_kubernetes_synced") == 1, 20), "synced")
        seen, until = set(), time.monotonic() + 4
        while time.monotonic() < until:
            seen.add(limit())
            time.sleep(0.05)
        stage.equal(seen, {wanted}, f"{what}: the pod keeps it")
        new = f"web-5d4f8c7b9d-{len(cluster.events)}"
        stage.equal(cluster.admitted(), wanted, f"{what}: a new pod starts with it")
        cluster.add(new, f"{OWNERS}Mi")  # that the webhook did not see
        stage.check(daemon.eventually(lambda: cluster.limit(new) == wanted, 10), f"{what}: another gets it", cluster.limit(new))
        cluster.remove(new)
        return again

    for delay in (0, 0.5, 2):
        # ---- an owner opts out ----
        settle()
        cluster.annotate({"tautline.dev/mode": "off"})
        stage.check(daemon.eventually(lambda: limit() == OWNERS, 20, 0.01), "mode off gives the owner's limit back", limit())
        time.sleep(delay)
        tautd = restarted(OWNERS, f"killed {delay} s behind a release")
        tautd = restarted(OWNERS, "and once more")
        cluster.annotate({})
        cluster.scrape_seconds = 600
        stage.check(daemon.eventually(lambda: limit() < 300, 60), "without the annotation it is lowered again", limit())

    # ---- a container is killed ----
    # The limit is in force for a while: a kill that may be of before is charged to the one before.
    cluster.scrape_seconds = 300
    begin = cluster.seconds
    daemon.eventually(lambda: cluster.seconds >= begin + 1800, 30)
    settle()
    before = limit()
    cluster.scrape_seconds = 60
    cluster.kill_for_memory(POD)
    stage.check(daemon.eventually(lambda: limit() >= OWNERS, 20, 0.01), "the owner's limit is the answer to an OOM kill", limit())
    raised = limit()
    kill = tautd.get("/api/v1/ooms")["ooms"][0]
    stage.check(abs(kill["limit"] / kubernetes_test.MIB - before) < 1, "the kill is charged to the limit in force", (kill, before))
    tautd = restarted(raised, "killed right behind a raise")
    cluster.scrape_seconds = 600
    stage.check(daemon.eventually(lambda: limit() < 0.9 * OWNERS, 60), "later it is lowered again", limit())
    another_store(stage, cluster, config, tautd, limit)


def another_store(stage, cluster, config, tautd, limit):
    """What is the owner's stands on the objects."""
    tautd.kill()
    stage.check(limit() < 0.9 * OWNERS, "what the first one has set stands", limit())
    cluster.annotate({"tautline.dev/mode": "off"})
    tautd = stage.tautd(config=config, store=str(stage.dir / "other.db"))
    cluster.scrape_seconds = 60
    known = lambda: tautd.ask(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings").status == 200  # noqa: E731
    stage.check(daemon.eventually(known, 30) and daemon.eventually(lambda: setting(tautd, "mode")["value"] == "off", 70), "another tautd knows that it is off")
    stage.check(daemon.eventually(lambda: limit() == OWNERS, 30), "and gives back what it has not set itself", limit())

    # ---- the kernel holds the pod to less than its status says ----
    cluster.scrape_seconds = 2
    cluster.kernel[POD] = 154 * kubernetes_test.MIB
    low = lambda: kubernetes_test.metric(tautd, "tautd_kubernetes_low_pod_limits_total")  # noqa: E731
    stage.check(daemon.eventually(lambda: low() == 1, 90), "a pod whose cgroup has less than its containers is counted", low())
    stage.check(daemon.eventually(lambda: cluster.kernel[POD] >= OWNERS * kubernetes_test.MIB, 20), "and resized once more", cluster.kernel)
    stage.check(limit() - OWNERS < 0.1, "by a page", limit())
    said = lambda: [e["message"] for e in cluster.said if e["reason"] == "PodLimitDiffers"]  # noqa: E731
    stage.check(daemon.eventually(said, 20) and "the kernel holds it to 154Mi, and its containers run with 1024Mi" in said()[0], "an Event says so", said())
    stage.check("pod_limit_differs" in tautd.output(), "and the log", tautd.output()[-500:])

    # ---- an annotation that no webhook wrote ----
    forged = "web-5d4f8c7b9d-forged"
    cluster.add(forged, "512Mi", annotations={"tautline.dev/owner-resources": json.dumps(
        {"app": {"requests": {"cpu": "45", "memory": "450Gi"}, "limits": {"cpu": "90", "memory": "900Gi"}}})})
    begin = len(cluster.requests)
    cluster.scrape_seconds = 600
    seen, until = set(), time.monotonic() + 8
    while time.monotonic() < until:
        seen.add(owners_limit(tautd))
        time.sleep(0.1)
    stage.check(max(seen) <= OWNERS, "an owner's limit of 900 GiB is not believed", seen)
    asked = [r for r in cluster.requests[begin:] if r.startswith("PATCH") and "Gi" in r]
    stage.equal(asked, [], "nor ordered")
    with cluster.lock:
        spec = copy.deepcopy(cluster.pods[forged]["spec"]["containers"][0]["resources"]["limits"])
    stage.check(spec["memory"] in ("512Mi", f"{OWNERS}Mi"), "the pod has what it had, or what its template says", spec)
    stage.equal(tautd.stop(), 0, "tautd stops")


if __name__ == "__main__":
    main()
