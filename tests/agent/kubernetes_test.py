#!/usr/bin/env python3
"""One tautd sets limits through agents and in a cluster: a service of a node through its agent, a pod through the API server,
also where an agent measures the pod's container and may set limits there."""
import copy
import sys
import threading
import time

import cell
from cell import MIB, daemon, watch

sys.path.insert(0, str(cell.HERE.parent / "daemon"))
import kubernetes_test as cluster_test  # noqa: E402

SPEED = 600
ID = "0123456789abcdef" * 4
POD = "web-5d4f8c7b9d-2bxnz"
SERVICE = "mine/job"
SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, change_period: 10m}
recommenders:
  moving_window: {min_history_h: 0.25, memory_half_life_h: 2, hold_windows: 2}
ingest: {kubernetes_jobs: containers}
"""


class Cluster(cluster_test.Cluster):
    """Its time goes as that of the agents does."""

    def __init__(self):
        super().__init__()
        self.begin = time.time()
        cluster_test.START = int(self.begin)

    def usage(self):
        with self.lock:
            self.scrape_seconds = max(0, int((time.time() - self.begin) * SPEED) - self.seconds)
        return super().usage()


def main():
    args = cell.arguments(__doc__)
    tree = cell.tree("taut-test")
    mine, pods = tree.group("mine"), tree.group(f"cri-containerd-{ID}.scope")
    for group in (mine, pods):
        group.memory_limit, group.cpu_limit = 256 * MIB, 1.0
    rules = (f"  - {{cgroup: /{tree.name}/mine, job: {SERVICE}, manage: true, add_limits: true, cpu: hard}}\n"
             f"  - {{cgroup: /{tree.name}/cri-containerd-*, job: \"kubepods/{{base}}\", manage: true, add_limits: true, cpu: hard}}\n")
    with daemon.Stage(args) as stage:
        cluster = Cluster()
        handler = type("BothHandler", (cluster_test.Handler,), {"cluster": cluster})
        server = cluster_test.Server(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        run(stage, tree, cluster, server.server_address[1], rules, mine, pods)
        server.shutdown()
        stage.finish()


def run(stage, tree, cluster, port, rules, mine, pods):
    cluster.add(POD)
    pod = copy.deepcopy(cluster.pods[POD])
    pod["status"]["containerStatuses"][0]["containerID"] = f"containerd://{ID}"
    cluster.put(pod)
    settings = SETTINGS + f"kubernetes: {{kubeconfig: {stage.kubeconfig('kubeconfig', port)}, scrape_interval: 1s}}\n"
    c = cell.Cell(stage, tree, SPEED, rules, settings)
    c.daemon_config = c.daemon_config.replace("actuator: {kind: agents}", "actuator: {kind: [agents, kubernetes]}").replace("ingest: {grace: 0s}\n", "").replace(
        "kubernetes_jobs: containers", "kubernetes_jobs: containers, grace: 0s")
    c.load(mine, "--memory", "60MiB", "--cpu", "0.1")
    c.load(pods, "--memory", "30MiB", "--cpu", "0.1")
    c.start_daemon()
    c.start_agent()
    before = (pods.memory_limit, pods.cpu_limit)

    got, took = watch(lambda: mine.memory_limit, lambda v: v < 120 * MIB, 90, 0.05)
    stage.check(took is not None, "the agent sets the limit of the service", got)
    got, took = watch(lambda: cluster.limit(POD), lambda v: v < 400, 90, 0.05)
    stage.check(took is not None, "the API server is asked for that of the pod", got)
    stage.equal((pods.memory_limit, pods.cpu_limit), before, "no agent has touched the pod's container")

    def applied(job):
        return [d for d in c.decisions(job) if d["outcome"] == "applied"]

    for job in (SERVICE, cluster_test.JOB):
        stage.check(daemon.eventually(lambda: applied(job), 20), f"the decisions of {job} are applied", c.decisions(job))
        stage.check(c.job(job).get("enforced"), f"the limits of {job} count as limits in force")
    stage.check("claimed by the actuators" not in c.tautd.output(), "each job has one actuator")
    stage.equal(c.tautd.get("/api/v1/status")["actuator"], "agents, kubernetes", "the daemon says what sets limits")
    stage.equal(c.job(cluster_test.JOB)["workload"]["source"], "kubernetes", "the pod's job is known by its source")

    c.tautd.kill()
    c.start_daemon()
    daemon.eventually(lambda: c.job(SERVICE) and c.job(cluster_test.JOB), 20)
    time.sleep(6)
    stage.equal((pods.memory_limit, pods.cpu_limit), before, "nor after a restart of tautd")
    stage.check("claimed by the actuators" not in c.tautd.output(), "and each job has one actuator again")


if __name__ == "__main__":
    main()
