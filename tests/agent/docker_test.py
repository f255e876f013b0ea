"""tautlet over a real Docker engine: containers get lower and higher limits through the engine, and their owner's limits back."""
import pytest

import cell
import engine
from cell import MIB, daemon, watch

SPEED = 120
SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, change_period: 10m}
recommenders:
  moving_window: {min_history: 15m, memory_half_life: 2h, hold_windows: 2}
"""
# The worker's CPU is not limited: throttled to .03 cores it would grow so slowly that its limit would be raised ahead of it.
RULES = """\
  - {docker: "shop-worker-*", manage: true, cpu: none}
  - {docker: "shop-*", manage: true, add_limits: true, cpu: hard}
  - {docker: seen, job: "docker/{name}"}
"""
FOREVER = ["--duration", "600s"]
pytestmark = pytest.mark.skipif(engine.lacking() is not None, reason=f"{engine.lacking()}: no Docker engine was started")


class Containers:
    """Containers of a managed project, of a measured one and of an unknown one, and a tautlet over the engine."""

    def __init__(self, stage, docker):
        load = ["/bin/taut-load", *FOREVER]
        web = docker.run("shop-web-1", [*load, "--memory", "60MiB", "--cpu", "0.15"], ("shop", "web"),
                         Memory=256 * MIB, NanoCpus=1_000_000_000)
        self.others = {name: docker.run(name, [*load, "--memory", "20MiB", "--cpu", "0.02"], compose, Memory=256 * MIB)
                       for name, compose in (("seen", None), ("stranger", ("other", "web")))}
        self.before = {name: docker.inspect(container) for name, container in self.others.items()}
        self.c = cell.Cell(stage, None, SPEED, RULES, SETTINGS, f"docker_socket: \"{docker.socket}\"\n")
        self.c.start_daemon()
        self.c.start_agent()
        quota = {"Memory": 256 * MIB, "MemorySwap": 256 * MIB, "CpuPeriod": 50_000, "CpuQuota": 50_000}
        worker = docker.run("shop-worker-1", [*load, *burst("22s")], ("shop", "worker"),
                            RestartPolicy={"Name": "always"}, **quota)
        parent = docker.run("shop-parent-1", [*load, *burst("12s"), "--restart"], ("shop", "parent"), **quota)
        self.mine = {"web": web, "worker": worker, "parent": parent}
        self.original = {name: limits_of(docker.inspect(container)) for name, container in self.mine.items()}


@pytest.fixture(scope="module")
def docker(stage, args):
    with engine.Engine(stage, [args.load]) as its:
        yield its


@pytest.fixture(scope="module")
def ours(stage, docker):
    return Containers(stage, docker)


@pytest.fixture(scope="module")
def c(ours):
    return ours.c


def burst(after):
    """Requests three times as much some time after each start."""
    return ["--memory", f"step:40MiB..130MiB@{after}", "--cpu", "0.02"]


def limits_of(inspected):
    """Returns memory, swap and CPU as a client of the engine sees them."""
    c = inspected["HostConfig"]
    return {k: c[k] for k in ("Memory", "MemorySwap", "MemoryReservation", "NanoCpus", "CpuPeriod", "CpuQuota",
                              "CpuShares")}


def test_jobs_are_named_by_project_and_service(stage, c, story):
    listed = c.tautlet("--list")
    names = sorted(line.split()[0] for line in listed.stdout.splitlines()[2:])
    assert names == ["docker/seen", "docker/shop/parent", "docker/shop/web", "docker/shop/worker"], (
        "jobs are named by project and service, or as the rule says")
    assert daemon.eventually(lambda: all(c.job(name) for name in names), 20), f"and the daemon knows them: {listed.stdout}"
    assert not c.job("docker/stranger"), "one that no rule names is not measured"


def ooms_of(c, job):
    return [o for o in c.tautd.get("/api/v1/ooms")["ooms"] if o["job"] == job]


def test_a_container_whose_child_is_killed_lives_on_with_more(stage, docker, ours, story):
    """The kernel kills a child of the first process: the container continues, and so does its cgroup. The test observes the start closely,
    before the kill can happen."""
    group = docker.group(ours.mine["parent"])
    before, started = {}, docker.inspect(ours.mine["parent"])["State"]["StartedAt"]

    def note():
        limit = group.memory_limit  # read first: the raise may arrive with the kill
        kills = group.oom_kills
        if not kills:
            before["limit"] = limit
        return kills

    kills, took = watch(note, lambda v: v > 0, 90)
    assert took is not None, f"a process of a container meets the limit and is killed: {kills}"
    raised, took = watch(lambda: group.memory_limit, lambda v: v > before["limit"], 10)
    assert took is not None and raised >= 1.19 * before["limit"], f"its limit is raised, at once: {(before, raised)}"
    if took is not None:
        print(f"      figure: OOM kill to raised limit {took * 1000:.1f} ms ({before['limit'] / MIB:.0f} to "
              f"{raised / MIB:.0f} MiB)")
    running = docker.inspect(ours.mine["parent"])["State"]
    assert running["Running"] and running["StartedAt"] == started, "and the container never ended"


def test_a_container_that_ends_comes_back_with_more(stage, c, docker, ours, story):
    """With --restart=always the first process is killed: the container itself ends and restarts."""
    lowest, took = watch(lambda: limits_of(docker.inspect(ours.mine['worker']))["Memory"], lambda v: v < 110 * MIB, 60, 0.1)
    assert took is not None, f"one that uses 40 MiB is given less than it will want: {lowest}"
    inspected, took = watch(lambda: docker.inspect(ours.mine['worker']), lambda v: v["RestartCount"] > 0, 60)
    assert took is not None, f"it wants more at once and is killed: {inspected['State']}"
    told = daemon.eventually(lambda: ooms_of(c, "docker/shop/worker"), 20)
    assert told and 40 * MIB < told[0]["limit"] < 130 * MIB, "the daemon is told, with the limit it met"
    more = told[0]["limit"] if told else 0
    raised, took = watch(lambda: limits_of(docker.inspect(ours.mine['worker']))["Memory"], lambda v: v >= 1.19 * more, 10)
    assert took is not None, f"it comes back with more: {(more, raised)}"

    def holds_all():
        try:
            return docker.group(ours.mine["worker"]).memory_used
        except OSError:  # between two starts
            return 0

    back, took = watch(holds_all, lambda v: v > 125 * MIB, 60, 0.1)
    assert took is not None, f"and then holds all that it wants: {back}"
    limits = [o["limit"] for o in ooms_of(c, "docker/shop/worker")]
    print(f"      killed at {[round(x / MIB) for x in sorted(limits)]} MiB, "
          f"now {limits_of(docker.inspect(ours.mine['worker']))['Memory'] / MIB:.0f} MiB, "
          f"{docker.inspect(ours.mine['worker'])['RestartCount']} restarts")
    assert len(limits) == len(set(limits)), "never killed twice at the same limit"


def test_a_container_gets_less_through_the_engine(stage, c, docker, ours, story):
    group = docker.group(ours.mine["web"])
    got, took = watch(lambda: limits_of(docker.inspect(ours.mine["web"]))["Memory"], lambda v: v < 130 * MIB, 60, 0.1)
    assert took is not None, f"a container that uses 60 of 256 MiB has a lower memory limit, as the engine says: {got}"
    got, took = watch(lambda: limits_of(docker.inspect(ours.mine["web"]))["NanoCpus"], lambda v: v < 0.6e9, 60, 0.1)
    assert took is not None, f"and fewer CPUs: {got}"
    said = limits_of(docker.inspect(ours.mine["web"]))
    assert abs(group.memory_limit - said["Memory"]) <= 4096, f"its cgroup has the memory limit: {(group.memory_limit, said)}"
    assert abs(group.cpu_limit - said["NanoCpus"] / 1e9) <= 0.0101, f"and the quota: {(group.cpu_limit, said)}"
    assert group.memory_limit > group.memory_used, "the limit is above what is in use"

    def applied():
        return [d for d in c.decisions("docker/shop/web") if d["outcome"] == "applied"]

    assert daemon.eventually(applied, 20), f"the decisions are told to be applied: {c.decisions('docker/shop/web')}"


def test_a_stop_and_a_start_keep_what_was_set(stage, c, docker, ours, story):
    """However it is restarted, it is the same container: the limits set here are not its owner's."""
    set_here = limits_of(docker.inspect(ours.mine["web"]))
    docker.ask("POST", f"/containers/{ours.mine['web']}/kill")
    assert daemon.eventually(lambda: not docker.inspect(ours.mine["web"])["State"]["Running"], 20), "the container has stopped"
    c.await_windows(1)
    docker.ask("POST", f"/containers/{ours.mine['web']}/start")
    assert daemon.eventually(lambda: docker.inspect(ours.mine["web"])["State"]["Running"], 20), "and started"
    c.await_windows(1)
    assert limits_of(docker.inspect(ours.mine["web"]))["Memory"] < 130 * MIB, (
        f"stopped and started, it has what was set here: {(set_here, limits_of(docker.inspect(ours.mine['web'])))}")


def test_others_are_left_alone(docker, ours, story):
    for name, was in ours.before.items():
        assert docker.inspect(ours.others[name]) == was, f"the engine says of {name} what it said before"


def test_release_gives_the_owners_limits_back(stage, c, docker, ours, story):
    """Each container that was ever changed has its owner's limits again, including killed ones."""
    assert c.agent.stop() == 0, "TERM ends it well"
    changed = {name: limits_of(docker.inspect(container)) for name, container in ours.mine.items()}
    assert all(changed[name] != ours.original[name] for name in ours.mine), f"limits stay as they are when it ends: {changed}"
    docker.ask("POST", f"/containers/{ours.mine['web']}/kill")
    asleep = c.tautlet("--release")
    assert asleep.returncode == 3 and "is not running and keeps its limits" in asleep.stdout, (
        f"--release says that it cannot give back the limits of one that is stopped: {asleep.stdout + asleep.stderr}")
    docker.ask("POST", f"/containers/{ours.mine['web']}/start")
    released = c.tautlet("--release")
    print("      " + (asleep.stdout + released.stdout).strip().replace("\n", "\n      "))
    assert released.returncode == 0, "and gives everything back when all run"
    for name, container in ours.mine.items():
        assert limits_of(docker.inspect(container)) == ours.original[name], f"{name} has its owner's limits in the engine"
        group, was = docker.group(container), ours.original[name]
        assert (group.memory_limit, group.cpu_limit) == (was["Memory"], was["NanoCpus"] / 1e9 or was["CpuQuota"] / was["CpuPeriod"]), (
            "and in its cgroup")
