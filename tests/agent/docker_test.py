#!/usr/bin/env python3
"""tautlet over a real Docker engine: containers get less and more through the engine, and their owner's limits back."""
import time

import cell
import engine
from cell import MIB, daemon, watch

SPEED = 120
SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, change_period: 10m}
recommenders:
  moving_window: {min_history_h: 0.25, memory_half_life_h: 2, hold_windows: 2}
"""
# The worker's CPU is left alone: throttled to .03 cores it would grow so slowly that its limit is raised ahead of it.
RULES = """\
  - {docker: "shop-worker-*", manage: true, cpu: none}
  - {docker: "shop-*", manage: true, add_limits: true, cpu: hard}
  - {docker: seen, job: "docker/{name}"}
"""
FOREVER = ["--duration", "600s"]


def burst(after):
    """Wants three times as much from a while after each of its starts."""
    return ["--memory", f"step:40MiB..130MiB@{after}", "--cpu", "0.02"]


def limits_of(inspected):
    """What a client of the engine sees of memory, swap and CPU."""
    c = inspected["HostConfig"]
    return {k: c[k] for k in ("Memory", "MemorySwap", "MemoryReservation", "NanoCpus", "CpuPeriod", "CpuQuota",
                              "CpuShares")}


def check_names(stage, c):
    listed = c.tautlet("--list")
    names = sorted(line.split()[0] for line in listed.stdout.splitlines()[2:])
    stage.equal(names, ["docker/seen", "docker/shop/parent", "docker/shop/web", "docker/shop/worker"],
                "jobs are named by project and service, or as the rule says")
    stage.check(daemon.eventually(lambda: all(c.job(name) for name in names), 20), "and the daemon knows them",
                listed.stdout)
    stage.check(not c.job("docker/stranger"), "one that no rule names is not measured")


def check_less(stage, c, docker, web):
    group = docker.group(web)
    got, took = watch(lambda: limits_of(docker.inspect(web))["Memory"], lambda v: v < 130 * MIB, 60, 0.1)
    stage.check(took is not None, "a container that uses 60 of 256 MiB has a lower memory limit, as the engine says",
                got)
    got, took = watch(lambda: limits_of(docker.inspect(web))["NanoCpus"], lambda v: v < 0.6e9, 60, 0.1)
    stage.check(took is not None, "and fewer CPUs", got)
    said = limits_of(docker.inspect(web))
    stage.check(abs(group.memory_limit - said["Memory"]) <= 4096, "its cgroup has the memory limit",
                (group.memory_limit, said))
    stage.check(abs(group.cpu_limit - said["NanoCpus"] / 1e9) <= 0.0101, "and the quota", (group.cpu_limit, said))
    stage.check(group.memory_limit > group.memory_used, "the limit is above what is in use")

    def applied():
        return [d for d in c.decisions("docker/shop/web") if d["outcome"] == "applied"]

    stage.check(daemon.eventually(applied, 20), "the decisions are told to be applied", c.decisions("docker/shop/web"))


def ooms_of(c, job):
    return [o for o in c.tautd.get("/api/v1/ooms")["ooms"] if o["job"] == job]


def check_more_at_once(stage, c, docker, worker):
    """--restart=always, and the first process is the one that is killed: the container itself ends."""
    lowest, took = watch(lambda: limits_of(docker.inspect(worker))["Memory"], lambda v: v < 110 * MIB, 60, 0.1)
    stage.check(took is not None, "one that uses 40 MiB is given less than it will want", lowest)
    inspected, took = watch(lambda: docker.inspect(worker), lambda v: v["RestartCount"] > 0, 60)
    stage.check(took is not None, "it wants more at once and is killed", inspected["State"])
    told = daemon.eventually(lambda: ooms_of(c, "docker/shop/worker"), 20)
    stage.check(told and 40 * MIB < told[0]["limit"] < 130 * MIB, "the daemon is told, with the limit it met", told)
    more = told[0]["limit"] if told else 0
    raised, took = watch(lambda: limits_of(docker.inspect(worker))["Memory"], lambda v: v >= 1.19 * more, 10)
    stage.check(took is not None, "it comes back with more", (more, raised))

    def holds_all():
        try:
            return docker.group(worker).memory_used
        except OSError:  # between two starts
            return 0

    back, took = watch(holds_all, lambda v: v > 125 * MIB, 60, 0.1)
    stage.check(took is not None, "and then holds all that it wants", back)
    limits = [o["limit"] for o in ooms_of(c, "docker/shop/worker")]
    print(f"      killed at {[round(x / MIB) for x in sorted(limits)]} MiB, "
          f"now {limits_of(docker.inspect(worker))['Memory'] / MIB:.0f} MiB, "
          f"{docker.inspect(worker)['RestartCount']} restarts")
    stage.equal(len(limits), len(set(limits)), "never killed twice at the same limit")


def check_child_killed(stage, c, docker, parent):
    """The kernel kills a child of the first process: the container lives on, and so does its cgroup. Looked at closely,
    so before it has had the time to happen."""
    group = docker.group(parent)
    before, started = {}, docker.inspect(parent)["State"]["StartedAt"]

    def note():
        limit = group.memory_limit  # first: the raise may be there with the kill
        kills = group.oom_kills
        if not kills:
            before["limit"] = limit
        return kills

    kills, took = watch(note, lambda v: v > 0, 90)
    stage.check(took is not None, "a process of a container meets the limit and is killed", kills)
    raised, took = watch(lambda: group.memory_limit, lambda v: v > before["limit"], 10)
    stage.check(took is not None and raised >= 1.19 * before["limit"], "its limit is raised, at once",
                (before, raised))
    if took is not None:
        print(f"      figure: OOM kill to raised limit {took * 1000:.1f} ms ({before['limit'] / MIB:.0f} to "
              f"{raised / MIB:.0f} MiB)")
    running = docker.inspect(parent)["State"]
    stage.check(running["Running"] and running["StartedAt"] == started, "and the container never ended", running)


def check_left_alone(stage, docker, others, before):
    for name, was in before.items():
        stage.equal(docker.inspect(others[name]), was, f"the engine says of {name} what it said before")


def check_stopped_for_a_while(stage, docker, web):
    """Whoever starts it again, it is the same container: what was set on it here is not its owner's."""
    ours = limits_of(docker.inspect(web))
    docker.ask("POST", f"/containers/{web}/kill")
    time.sleep(2.5)
    docker.ask("POST", f"/containers/{web}/start")
    time.sleep(2.5)
    stage.check(limits_of(docker.inspect(web))["Memory"] < 130 * MIB, "stopped and started, it has what was set here",
                (ours, limits_of(docker.inspect(web))))


def check_release(stage, c, docker, mine, original):
    """Each container that was ever changed has its owner's limits again, those that were killed too."""
    stage.equal(c.agent.stop(), 0, "TERM ends it well")
    changed = {name: limits_of(docker.inspect(container)) for name, container in mine.items()}
    stage.check(all(changed[name] != original[name] for name in mine), "limits stay as they are when it ends", changed)
    docker.ask("POST", f"/containers/{mine['web']}/kill")
    asleep = c.tautlet("--release")
    stage.check(asleep.returncode == 3 and "is not running and keeps its limits" in asleep.stdout,
                "--release says that it cannot give back the limits of one that is stopped",
                asleep.stdout + asleep.stderr)
    docker.ask("POST", f"/containers/{mine['web']}/start")
    released = c.tautlet("--release")
    print("      " + (asleep.stdout + released.stdout).strip().replace("\n", "\n      "))
    stage.equal(released.returncode, 0, "and gives everything back when all run")
    for name, container in mine.items():
        stage.equal(limits_of(docker.inspect(container)), original[name],
                    f"{name} has its owner's limits in the engine")
        group, was = docker.group(container), original[name]
        stage.equal((group.memory_limit, group.cpu_limit),
                    (was["Memory"], was["NanoCpus"] / 1e9 or was["CpuQuota"] / was["CpuPeriod"]), "and in its cgroup")


def main():
    args = cell.arguments(__doc__)
    engine.skip_without_one()
    with daemon.Stage(args) as stage, engine.Engine(stage, [args.load]) as docker:
        load = ["/bin/taut-load", *FOREVER]
        web = docker.run("shop-web-1", [*load, "--memory", "60MiB", "--cpu", "0.15"], ("shop", "web"),
                         Memory=256 * MIB, NanoCpus=1_000_000_000)
        others = {name: docker.run(name, [*load, "--memory", "20MiB", "--cpu", "0.02"], compose, Memory=256 * MIB)
                  for name, compose in (("seen", None), ("stranger", ("other", "web")))}
        before = {name: docker.inspect(container) for name, container in others.items()}
        c = cell.Cell(stage, None, SPEED, RULES, SETTINGS, f"docker_socket: \"{docker.socket}\"\n")
        c.start_daemon()
        c.start_agent()
        quota = {"Memory": 256 * MIB, "MemorySwap": 256 * MIB, "CpuPeriod": 50_000, "CpuQuota": 50_000}
        worker = docker.run("shop-worker-1", [*load, *burst("22s")], ("shop", "worker"),
                            RestartPolicy={"Name": "always"}, **quota)
        parent = docker.run("shop-parent-1", [*load, *burst("12s"), "--restart"], ("shop", "parent"), **quota)
        mine = {"web": web, "worker": worker, "parent": parent}
        original = {name: limits_of(docker.inspect(container)) for name, container in mine.items()}
        check_names(stage, c)
        check_child_killed(stage, c, docker, parent)
        check_more_at_once(stage, c, docker, worker)
        check_less(stage, c, docker, web)
        check_stopped_for_a_while(stage, docker, web)
        check_left_alone(stage, docker, others, before)
        check_release(stage, c, docker, mine, original)
        stage.finish()


if __name__ == "__main__":
    main()
