#!/usr/bin/env python3
"""Workloads whose pods differ, in a real cluster: groups of a StatefulSet and a DaemonSet, and nodes that a pod may run on.

Of a StatefulSet with tautline.dev/split: ordinal each replica is a job, which is resized in place by its own order, and whose next pod
gets that from the webhook. Pods of a DaemonSet are jobs by a label of their nodes. What a pod may have is what the largest node has that its
nodeSelector and tolerations allow. It takes some seven minutes: usage counts after its five-minute window.

    TAUT_KUBERNETES=1 BED_BIN=... tests/kubernetes/split_test.py --tautd build/release/bin/tautd --taut build/release/bin/taut
"""
import json

import real_cluster_test
from real_cluster_test import MANIFESTS, daemon, limit_of

GROUP = "example.com/pool"
WORKLOADS = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, annotations: {tautline.dev/split: ordinal}}
spec:
  serviceName: db
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      nodeSelector: {kubernetes.io/hostname: real-0}
      containers:
      - name: app
        image: bed.local/busybox:1
        command: [sleep, "100000"]
        resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {cpu: 100m, memory: 128Mi}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: shipper}
spec:
  selector: {matchLabels: {app: shipper}}
  template:
    metadata: {labels: {app: shipper}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations: [{operator: Exists}]
      containers:
      - name: app
        image: bed.local/busybox:1
        command: [sleep, "100000"]
        resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {cpu: 100m, memory: 128Mi}}
"""
# A node that is played by nobody: it has room for everything, and a taint that the pods of db do not tolerate.
LARGE_NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "large-0", "labels": {GROUP: "large"}},
              "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}}
LARGE_STATUS = {"status": {"allocatable": {"cpu": "512", "memory": "4096Gi", "pods": "100"},
                           "capacity": {"cpu": "512", "memory": "4096Gi", "pods": "100"}}}
CONFIG = """actuator: {{kind: kubernetes}}
ingest: {{kubernetes_jobs: containers, grace: 10s}}
kubernetes:
  {{kubeconfig: {kubeconfig}, scrape_interval: 5s, node_group_label: {label}, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1}}}}
recommenders: {{moving_window: {{min_history_h: 0}}}}
defaults: {{recommender: moving_window, startup_grace: 0s}}
rules:
  - {{name: first, match: {{job: "default/statefulset/db@0/*"}}, set: {{mode: auto, memory.lower: 192MiB, memory.upper: 192MiB}}}}
"""


def main():
    args = daemon.arguments(__doc__.split("\n")[0])
    with daemon.Stage(args) as stage:
        bed = real_cluster_test.Bed(stage, ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet"))
        try:
            bed.up("node")
            run(stage, bed)
        finally:
            bed.down()
        stage.finish()


def start(stage, bed):
    for way in ("observe", "act", "webhook"):
        bed.kubectl("apply", "-f", str(MANIFESTS / way / "rbac.yaml"))
    admission = daemon.free_port()
    bed.call_webhook(stage, admission)
    kubeconfig = bed.kubeconfig_of_tautd(stage)
    return stage.tautd(config=CONFIG.format(kubeconfig=kubeconfig, label=GROUP, admission=admission), store=str(stage.dir / "tautd.db"))


def settings(tautd, job):
    answer = tautd.ask(f"/api/v1/jobs/{daemon.quoted(job)}/settings")
    return {s["key"]: s["value"] for s in answer.json()["values"]} if answer.status == 200 else {}


def run(stage, bed):
    bed.kubectl("label", "node", "real-0", f"{GROUP}=small")
    bed.kubectl("create", "-f", "-", given=json.dumps(LARGE_NODE))
    bed.kubectl("patch", "node", "large-0", "--subresource=status", "--type=merge", "-p", json.dumps(LARGE_STATUS))
    bed.kubectl("apply", "-f", "-", given=WORKLOADS)
    bed.kubectl("rollout", "status", "statefulset/db", "--timeout=90s")
    tautd = start(stage, bed)

    def jobs():
        return sorted(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"])

    wanted = {"default/daemonset/shipper@small/app", "default/statefulset/db@0/app", "default/statefulset/db@1/app"}
    stage.check(daemon.eventually(lambda: wanted <= set(jobs()), 340, 1), "each replica, and each group of nodes, is a job", jobs())
    stage.check(not {"default/statefulset/db/app", "default/daemonset/shipper/app"} & set(jobs()), "and the whole workload is none", jobs())

    # ---- the nodes that a pod may run on ----
    def allowed(job):
        return settings(tautd, job).get("memory.allowed", "")

    stage.check(daemon.eventually(lambda: "(real-0)" in allowed("default/statefulset/db@1/app"), 90, 1),
                "a pod is bound by the node that its nodeSelector selects", allowed("default/statefulset/db@1/app"))
    stage.check("nodeSelector kubernetes.io/hostname=real-0" in allowed("default/statefulset/db@1/app"),
                "which says why a larger one does not count", allowed("default/statefulset/db@1/app"))
    stage.check("(real-0)" in allowed("default/daemonset/shipper@small/app"), "and a DaemonSet's group by its own nodes",
                allowed("default/daemonset/shipper@small/app"))

    # ---- one replica alone is resized, and its next pod starts so ----
    def limits():
        return {pod["metadata"]["name"]: limit_of(pod) for pod in bed.pods("db")}

    def is_given():
        found = limits()
        return found.get("db-0", 0) > 128 and found.get("db-1") == 128

    stage.check(daemon.eventually(is_given, 340, 1), "db-0 is resized in place, and db-1 is not", limits())
    uid = next(pod["metadata"]["uid"] for pod in bed.pods("db") if pod["metadata"]["name"] == "db-0")
    bed.kubectl("delete", "pod", "db-0", "db-1", "--wait=true")
    bed.kubectl("rollout", "status", "statefulset/db", "--timeout=90s")

    def is_new():
        return any(pod["metadata"]["name"] == "db-0" and pod["metadata"]["uid"] != uid for pod in bed.pods("db"))

    stage.check(daemon.eventually(is_new, 60), "db-0 comes again", limits())
    first = next(pod for pod in bed.pods("db") if pod["metadata"]["name"] == "db-0")
    stage.check("tautline.dev/owner-resources" in first["metadata"].get("annotations", {}), "its limit is that of the webhook",
                first["metadata"])
    stage.check(is_given(), "and db-1 has that of the template", limits())

    # ---- another label of the node ----
    bed.kubectl("label", "node", "real-0", f"{GROUP}=medium", "--overwrite")
    stage.check(daemon.eventually(lambda: "default/daemonset/shipper@medium/app" in jobs(), 340, 1),
                "another label of the node makes its pods another job", jobs())

    # ---- no longer split ----
    bed.kubectl("annotate", "statefulset", "db", "tautline.dev/split-")
    stage.check(daemon.eventually(lambda: "default/statefulset/db/app" in jobs(), 340, 1), "without the annotation it is one job again", jobs())


if __name__ == "__main__":
    main()
