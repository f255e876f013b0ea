"""One tautd sets limits through agents and in a cluster: of a node's service through its agent, of a pod through the API server,
also where an agent measures the pod's container and may set limits there."""
import copy
import time

import pytest

import fake_cluster
from cell import MIB, daemon, watch

SPEED = 600
ID = "0123456789abcdef" * 4
POD = "web-5d4f8c7b9d-2bxnz"
SERVICE = "mine/job"
SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, change_period: 10m}
recommenders:
  moving_window: {min_history: 15m, memory_half_life: 2h, hold_windows: 2}
ingest: {kubernetes_jobs: containers}
"""


class Cluster(fake_cluster.Cluster):
    """A cluster whose time advances with the agents' time."""

    def __init__(self):
        super().__init__()
        self.begin = time.time()
        self.start = int(self.begin)

    def usage(self):
        with self.lock:
            self.scrape_seconds = max(0, int((time.time() - self.begin) * SPEED) - self.seconds)
        return super().usage()


@pytest.fixture(scope="module")
def cluster():
    with fake_cluster.serving(Cluster()) as its:
        its.add(POD)
        pod = copy.deepcopy(its.pods[POD])
        pod["status"]["containerStatuses"][0]["containerID"] = f"containerd://{ID}"
        its.put(pod)
        yield its


@pytest.fixture(scope="module")
def mine(tree):
    return limited(tree.group("mine"))


@pytest.fixture(scope="module")
def pods(tree):
    """The cgroup of the pod's container."""
    return limited(tree.group(f"cri-containerd-{ID}.scope"))


def limited(group):
    group.memory_limit, group.cpu_limit = 256 * MIB, 1.0
    return group


@pytest.fixture(scope="module")
def c(stage, agent, tree, cluster, mine, pods, before):
    rules = (f"  - {{cgroup: /{tree.name}/mine, job: {SERVICE}, manage: true, add_limits: true, cpu: hard}}\n"
             f"  - {{cgroup: /{tree.name}/cri-containerd-*, pods: true, manage: true, add_limits: true, cpu: hard}}\n")
    its = agent(SPEED, rules, SETTINGS + f"kubernetes: {{kubeconfig: {stage.kubeconfig('kubeconfig', cluster.port)}, scrape_interval: 1s}}\n")
    its.daemon_config = its.daemon_config.replace("actuator: {kind: agents}", "actuator: {kind: [agents, kubernetes]}").replace("ingest: {grace: 0s}\n", "").replace(
        "kubernetes_jobs: containers", "kubernetes_jobs: containers, grace: 0s")
    its.load(mine, "--memory", "60MiB", "--cpu", "0.1")
    its.load(pods, "--memory", "30MiB", "--cpu", "0.1")
    its.start_daemon()
    its.start_agent()
    return its


@pytest.fixture(scope="module")
def before(pods):
    """The limits of the pod's container."""
    return pods.memory_limit, pods.cpu_limit


def test_each_limit_is_set_by_its_own_actuator(c, before, mine, pods, cluster, story):
    got, took = watch(lambda: mine.memory_limit, lambda v: v < 120 * MIB, 90, 0.05)
    assert took is not None, f"the agent sets the limit of the service: {got}"
    got, took = watch(lambda: cluster.limit(POD), lambda v: v < 400, 90, 0.05)
    assert took is not None, f"the API server is asked for that of the pod: {got}"
    assert (pods.memory_limit, pods.cpu_limit) == before, "no agent has touched the pod's container"


def test_the_decisions_of_both_are_applied(stage, c, story):
    for job in (SERVICE, fake_cluster.JOB):
        assert daemon.eventually(lambda: [d for d in c.decisions(job) if d["outcome"] == "applied"], 20), (
            f"the decisions of {job} are applied: {c.decisions(job)}")
        assert c.job(job).get("enforced"), f"the limits of {job} count as limits in force"


def test_each_job_has_one_actuator(stage, c, story):
    assert "claimed by the actuators" not in c.tautd.output(), "each job has one actuator"
    assert c.tautd.get("/api/v1/status")["actuator"] == "agents, kubernetes", "the daemon says what sets limits"
    assert c.job(fake_cluster.JOB)["workload"]["source"] == "kubernetes", "the pod's job is known by its source"


def test_so_it_is_after_a_restart(stage, c, before, pods, story):
    c.tautd.kill()
    c.start_daemon()
    daemon.eventually(lambda: c.job(SERVICE) and c.job(fake_cluster.JOB), 20)
    c.await_windows(10)
    assert (pods.memory_limit, pods.cpu_limit) == before, "nor after a restart of tautd"
    assert "claimed by the actuators" not in c.tautd.output(), "and each job has one actuator again"
