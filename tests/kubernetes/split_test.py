"""Workloads whose pods differ, in a real cluster: groups of a StatefulSet and a DaemonSet, and nodes that a pod may run on.

With tautline.dev/split: ordinal, each replica of a StatefulSet is a job, which is resized in place by its own order, and whose next pod
gets that from the webhook. Pods of a DaemonSet are jobs by a label of their nodes. A pod may use the size of the largest node that its
nodeSelector and tolerations allow. It takes some seven minutes: usage counts after its five-minute window.
"""
import json

import pytest

import daemon
from bed import MANIFESTS, limit_of, up

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
recommenders: {{moving_window: {{min_history: 0}}}}
defaults: {{recommender: moving_window, startup_grace: 0s}}
rules:
  - {{name: first, match: {{job: "default/statefulset/db@0/*"}}, set: {{mode: auto, memory.lower: 192MiB, memory.upper: 192MiB}}}}
"""


@pytest.fixture(scope="module")
def bed(stage):
    with up(stage, "node") as its:
        yield its


def start(stage, bed):
    for way in ("observe", "act", "webhook"):
        bed.kubectl("apply", "-f", str(MANIFESTS / way / "rbac.yaml"))
    admission = daemon.free_port()
    bed.call_webhook(admission)
    kubeconfig = bed.kubeconfig_of_tautd(stage)
    return stage.tautd(config=CONFIG.format(kubeconfig=kubeconfig, label=GROUP, admission=admission), store=str(stage.dir / "tautd.db"))


def settings(tautd, job):
    answer = tautd.ask(f"/api/v1/jobs/{daemon.quoted(job)}/settings")
    return {s["key"]: s["value"] for s in answer.json()["values"]} if answer.status == 200 else {}


def jobs(tautd):
    return sorted(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"])


def allowed(tautd, job):
    return settings(tautd, job).get("memory.allowed", "")


def limits(bed):
    return {pod["metadata"]["name"]: limit_of(pod) for pod in bed.pods("db")}


def is_given(bed):
    found = limits(bed)
    return found.get("db-0", 0) > 128 and found.get("db-1") == 128


def test_each_replica_and_each_group_of_nodes_is_a_job(stage, story, bed):
    bed.kubectl("label", "node", "real-0", f"{GROUP}=small")
    bed.kubectl("create", "-f", "-", given=json.dumps(LARGE_NODE))
    bed.kubectl("patch", "node", "large-0", "--subresource=status", "--type=merge", "-p", json.dumps(LARGE_STATUS))
    bed.kubectl("apply", "-f", "-", given=WORKLOADS)
    bed.kubectl("rollout", "status", "statefulset/db", "--timeout=90s")
    story.tautd = start(stage, bed)

    wanted = {"default/daemonset/shipper@small/app", "default/statefulset/db@0/app", "default/statefulset/db@1/app"}
    assert daemon.eventually(lambda: wanted <= set(jobs(story.tautd)), 340, 1), (
        f"each replica, and each group of nodes, is a job: {jobs(story.tautd)}")
    assert not {"default/statefulset/db/app", "default/daemonset/shipper/app"} & set(jobs(story.tautd)), "and the whole workload is none"


def test_a_pod_is_bound_by_the_nodes_that_it_may_run_on(story):
    assert daemon.eventually(lambda: "(real-0)" in allowed(story.tautd, "default/statefulset/db@1/app"), 90, 1), (
        f"a pod is bound by the node that its nodeSelector selects: {allowed(story.tautd, 'default/statefulset/db@1/app')}")
    assert "nodeSelector kubernetes.io/hostname=real-0" in allowed(story.tautd, "default/statefulset/db@1/app"), (
        "which says why a larger one does not count")
    assert "(real-0)" in allowed(story.tautd, "default/daemonset/shipper@small/app"), "and a DaemonSet's group by its own nodes"


def test_one_replica_alone_is_resized_and_its_next_pod_starts_so(story, bed):
    assert daemon.eventually(lambda: is_given(bed), 340, 1), f"db-0 is resized in place, and db-1 is not: {limits(bed)}"
    uid = next(pod["metadata"]["uid"] for pod in bed.pods("db") if pod["metadata"]["name"] == "db-0")
    bed.kubectl("delete", "pod", "db-0", "db-1", "--wait=true")
    bed.kubectl("rollout", "status", "statefulset/db", "--timeout=90s")

    def is_new():
        return any(pod["metadata"]["name"] == "db-0" and pod["metadata"]["uid"] != uid for pod in bed.pods("db"))

    assert daemon.eventually(is_new, 60), f"db-0 comes again: {limits(bed)}"
    first = next(pod for pod in bed.pods("db") if pod["metadata"]["name"] == "db-0")
    assert "tautline.dev/owner-resources" in first["metadata"].get("annotations", {}), "its limit is that of the webhook"
    assert is_given(bed), f"and db-1 has that of the template: {limits(bed)}"


def test_another_label_of_the_node_is_another_job(story, bed):
    bed.kubectl("label", "node", "real-0", f"{GROUP}=medium", "--overwrite")
    assert daemon.eventually(lambda: "default/daemonset/shipper@medium/app" in jobs(story.tautd), 340, 1), (
        f"another label of the node makes its pods another job: {jobs(story.tautd)}")


def test_without_the_annotation_it_is_one_job_again(story, bed):
    bed.kubectl("annotate", "statefulset", "db", "tautline.dev/split-")
    assert daemon.eventually(lambda: "default/statefulset/db/app" in jobs(story.tautd), 340, 1), (
        f"without the annotation it is one job again: {jobs(story.tautd)}")
