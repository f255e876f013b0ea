"""The commands of README, of the quick start and of the agent's page run as printed there; those that a test cannot run are checked for
their names."""
import os
import pathlib
import re
import shutil
import textwrap
import time

import pytest
import yaml

import daemon
import senders

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
QUICK_START = ROOT / "docs/start/quick_start.md"
AGENT = ROOT / "docs/agent/install.md"
MIB = 2**20


@pytest.fixture(scope="module")
def env(args):
    """The environment after an installation: the programs are on the path."""
    return {**os.environ, "PATH": f"{pathlib.Path(args.taut).resolve().parent}:{os.environ['PATH']}"}


def blocks(document, heading):
    """Returns the shell blocks of a document under this heading; without a heading, all of them."""
    section = document.read_text() + "\n"
    if heading:
        section = section.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [textwrap.dedent(body) for body in re.findall(r"(?ms)^ *```sh\n(.*?)^ *```", section)]


def series_of(at, seconds):
    """Returns the series of a container of README's job: shop/deployment/web/app, with half a core and 300 MiB of 2 cores and a GiB."""
    its = {"namespace": "shop", "pod": "web-5d9c7-x2x4z", "container": "app", "image": "x"}
    limit = {"__name__": "kube_pod_container_resource_limits", **{k: its[k] for k in ("namespace", "pod", "container")}}
    return [
        ({"__name__": "container_cpu_usage_seconds_total", **its}, [(at, 0.5 * seconds)]),
        ({"__name__": "container_memory_working_set_bytes", **its}, [(at, 300 * MIB)]),
        ({**limit, "resource": "cpu"}, [(at, 2)]), ({**limit, "resource": "memory"}, [(at, 1024 * MIB)]),
        ({"__name__": "kube_pod_owner", "namespace": "shop", "pod": its["pod"], "owner_kind": "ReplicaSet", "owner_name": "web-5d9c7", "owner_is_controller": "true"}, [(at, 1)]),
        ({"__name__": "kube_replicaset_owner", "namespace": "shop", "replicaset": "web-5d9c7", "owner_kind": "Deployment", "owner_name": "web", "owner_is_controller": "true"}, [(at, 1)])]


def test_commands_that_ask_a_daemon_run(stage, tautd, env):
    """The commands of the quick start for a daemon with a sending cluster, and README's for the risk of one job."""
    lines = [line for block in blocks(QUICK_START, None) for line in block.splitlines() if line.startswith("taut ")]
    lines.insert(4, re.search(r"`(taut set JOB risk=[^`]*)`", README.read_text())[1].replace("JOB", "shop/deployment/web/app"))
    assert len(lines) >= 6 and any("mode=canary" in line for line in lines), f"the quick start asks a daemon: {lines}"
    begin = int(time.time()) // 300 * 300 - 26 * 3600
    for step in range(0, 25 * 3600, 150):
        daemon.send(tautd.port, series_of(begin + step, 1000 + step))
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= begin + 88_000, 60)
    # README's address is the default; a test has a port of its own.
    env = {**env, "TAUT_SERVER": tautd.url}
    for line in lines:
        said = stage.run("bash", "-e", "-c", line, env=env)
        assert said.returncode == 0 and said.stdout.strip(), f"`{line}` runs: {said.stdout[-300:] + said.stderr[-300:]}"
        mode = re.search(r" mode=(\w*)", line)
        if mode is not None:
            assert tautd.get("/api/v1/jobs/" + daemon.quoted("shop/deployment/web/app"))["mode"] == (mode[1] or "observe"), (
                "and the job is in the mode that it sets")


def command(document, heading, word):
    """Returns the command in a block under this heading that begins with the word, with its continued lines joined."""
    for block in blocks(document, heading):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith(word + " "):
                return line
    raise RuntimeError(f"{document.name} has no command {word} under {heading}")


def test_a_prometheus_gives_a_history_and_recommendations_within_minutes(stage, env):
    """`tautd --prometheus URL` as printed, with the test's Prometheus and a port of its own: recommendations within minutes, from its history."""
    line = re.search(r"`(tautd --prometheus [^`]*)`", README.read_text())[1]
    assert "http://prometheus:9090" in line, "README reads a Prometheus"
    fetch = command(README, "Try it", "taut trace fetch")
    if any(shutil.which(program) is None for program in ("prometheus", "promtool")):
        pytest.skip("no Prometheus is installed (tools/packages.txt)")
    url = f"http://127.0.0.1:{senders.prometheus_with_history(stage)}"
    fetched = stage.run("bash", "-c", f"cd {stage.dir} && {fetch.replace('http://prometheus:9090', url)}", env=env)
    assert fetched.returncode == 0 and (stage.dir / "history.csv.gz").exists(), (
        f"`{fetch}` writes a history: {fetched.stdout[-300:] + fetched.stderr[-300:]}")
    port = daemon.free_port()
    run = line.replace("http://prometheus:9090", url)
    began = time.monotonic()
    tautd = stage.start("readme", ["env", f"PATH={env['PATH']}", "bash", "-c", f"cd {stage.dir} && exec {run} --listen 127.0.0.1:{port}"],
                        ready=lambda process: daemon.answers(port, "/readyz"), kind=daemon.Tautd)
    tautd.port = port
    ready = daemon.eventually(lambda: [j["name"] for j in tautd.get("/api/v1/jobs")["jobs"] if j["cpu"]["would_be"] and j["memory"]["would_be"]], 120)
    assert len(ready) == len(senders.JOBS) and time.monotonic() - began < 300, (
        f"`{line.strip()}` has recommendations within minutes: {tautd.output()[-500:]}")
    assert (stage.dir / "tautd.db").exists(), "and stores its data in ./tautd.db"
    assert tautd.stop() == 0, "it stops as told"


def value_at(values, path):
    for key in path.split("."):
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values


def test_the_chart_has_what_readme_names():
    """The chart and every value of `helm install` are there; where there is a helm, it renders what README says."""
    line = command(README, "Try it", "helm").split("#")[0]
    chart = ROOT / re.search(r"(packaging/\S+)", line)[1]
    values = yaml.safe_load((chart / "values.yaml").read_text())
    keys = re.findall(r"--set (\S+?)=(\S+)", line)
    assert len(keys) >= 2, f"README sets values of the chart: {line}"
    for key, _ in keys:
        assert value_at(values, key) is not None, f"values.yaml has {key}"
    ways = yaml.safe_load((chart / "values.schema.json").read_text())["properties"]["way"]["enum"]
    way = re.search(r"`way=(\w+)`", README.read_text())[1]
    assert way in ways, f"way={way} is one of the chart's"
    observe = ROOT / re.search(r"kubectl apply -k (\S+)", (ROOT / "docs/kubernetes/install.md").read_text())[1]
    assert (observe / "kustomization.yaml").exists(), f"kubectl finds {observe}"
    for key in ("imagePullSecrets", "livenessProbe", "priorityClassName", "podAnnotations"):
        assert key in values and any(f".Values.{key}" in file.read_text() for file in (chart / "templates").iterdir()), f"the chart uses {key}"


@daemon.needs("helm")
def test_helm_renders_what_readme_says(stage):
    line = command(README, "Try it", "helm").split("#")[0]
    said = stage.run("bash", "-c", f"cd {ROOT} && {line.replace('helm install', 'helm template').replace('--create-namespace', '')}")
    assert said.returncode == 0 and "prometheus.monitoring.svc:9090" in said.stdout, f"helm renders it: {said.stderr}"


def test_tautlet_lists_and_measures(stage, env):
    """`tautlet --list` and `--observe` as printed, from a clone; no limit changes."""
    lines = [line for block in blocks(AGENT, "Quick start") for line in block.splitlines() if line.startswith("tautlet ") and "--check-config" not in line]
    assert len(lines) == 2 and "--list" in lines[0] and "--observe" in lines[1], "the page of the agent lists tasks, and measures them"
    if os.geteuid() != 0 or not pathlib.Path("/sys/fs/cgroup").exists():
        pytest.skip("tautlet reads cgroups as root")
    listed = stage.run("bash", "-c", f"cd {ROOT} && {lines[0]}", env=env)
    assert listed.returncode == 0 and "limited by" in listed.stdout, f"`{lines[0]}` runs: {listed.stdout[-300:] + listed.stderr[-300:]}"
    observed = stage.run("bash", "-c", f"cd {ROOT} && exec timeout --preserve-status -s TERM 3 {lines[1]}", env=env)
    said = observed.stdout + observed.stderr
    assert observed.returncode == 0 and "changes nothing (--observe)" in said and "limits stay as they are" in said, (
        f"`{lines[1]}` runs, and ends as told: {said[-500:]}")
