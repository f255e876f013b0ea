"""Debian's Prometheus scrapes its node exporter each second and writes to tautd; Prometheus scrapes tautd.

Two tautds get the same samples: one with the wall clock and tokens, as in production, and one with clock: samples,
whose window is closed at the end by a sample of ten minutes later, so that the jobs are visible.
"""
import os
import subprocess
import time

import pytest

import daemon

pytestmark = daemon.needs("prometheus", "promtool", "prometheus-node-exporter")
TOKEN = "operator-0123456789abcdef012345678"


def config_of_prometheus(ports):
    return f"""global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: prometheus
    static_configs: [{{targets: ['127.0.0.1:{ports["prometheus"]}']}}]
  - job_name: node
    static_configs: [{{targets: ['127.0.0.1:{ports["node"]}']}}]
  - job_name: tautd
    authorization: {{credentials: {TOKEN}}}
    static_configs: [{{targets: ['127.0.0.1:{ports["wall"]}']}}]
remote_write:
  - url: http://127.0.0.1:{ports["wall"]}/api/v1/write
    authorization: {{credentials: {TOKEN}}}
    queue_config: {{batch_send_deadline: 1s}}
  - url: http://127.0.0.1:{ports["samples"]}/api/v1/write
    queue_config: {{batch_send_deadline: 1s}}
"""


def query(port, expression):
    """Returns the value of a query with one result; None without one."""
    answer = daemon.ask(port, "/api/v1/query?query=" + daemon.quoted(expression)).json()
    result = answer["data"]["result"]
    return float(result[0]["value"][1]) if len(result) == 1 else None


def metric(text, name):
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name)


def memory_in_use():
    with open("/proc/meminfo", encoding="ascii") as lines:
        kib = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return (kib["MemTotal"] - kib["MemAvailable"]) * 1024


@pytest.fixture(scope="module")
def started(stage):
    config = (f"server: {{tokens: {{operator_file: {stage.file('tokens', TOKEN)}}}}}\n"
              "ingest: {grace: 1s}\n")
    wall = stage.tautd(config=config)
    samples = stage.tautd(config="clock: samples\n")
    ports = {"wall": wall.port, "samples": samples.port, "prometheus": daemon.free_port(), "node": daemon.free_port()}
    stage.start("prometheus-node-exporter",
                ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{ports['node']}"],
                lambda p: daemon.answers(ports["node"], "/metrics"))
    stage.start("prometheus", ["prometheus", f"--config.file={stage.file('p.yml', config_of_prometheus(ports))}",
                               f"--storage.tsdb.path={stage.dir}/tsdb",
                               f"--web.listen-address=127.0.0.1:{ports['prometheus']}"],
                lambda p: daemon.answers(ports["prometheus"], "/-/ready"))
    return wall, samples, ports["prometheus"]


@pytest.fixture(scope="module")
def wall(started):
    return started[0]


@pytest.fixture(scope="module")
def samples(started):
    return started[1]


@pytest.fixture(scope="module")
def port(started):
    return started[2]


def test_samples_arrive(wall):
    def ingest():
        return wall.get("/api/v1/status", token=TOKEN)["ingest"]

    assert daemon.eventually(lambda: ingest()["accepted"] >= 200, 60), f"samples of mapped series are accepted: {ingest()}"
    assert daemon.eventually(lambda: ingest()["unmapped"] >= 10_000, 60), f"others are counted as unmapped: {ingest()}"
    counts = ingest()
    print(f"      {counts}")
    lost = {k: counts[k] for k in ("far_future", "too_late", "over_capacity", "refused", "invalid", "conflicts")}
    assert sum(lost.values()) == 0, "none is refused"
    text = wall.ask("/metrics", token=TOKEN).text
    assert metric(text, "tautd_series") >= 5, "series are mapped"
    assert metric(text, "tautd_unmapped_series") >= 500, "and unmapped ones known"


def test_prometheus_sees_tautd(wall, port):
    assert daemon.eventually(lambda: query(port, 'up{job="tautd"}') == 1, 30), "Prometheus: tautd is up"
    accepted = 'tautd_samples_total{outcome="accepted"}'
    assert daemon.eventually(lambda: (query(port, accepted) or 0) > 0, 30), "it has what tautd counts"
    assert query(port, "count(tautd_build_info)") == 1, "and its version"
    sent = "prometheus_remote_storage_"
    assert daemon.eventually(lambda: (query(port, f"sum({sent}samples_total)") or 0) > 0, 30), "it says it has sent samples"
    assert query(port, f"sum({sent}samples_failed_total)") == 0, "and that none failed"
    checked = subprocess.run(["promtool", "check", "metrics"], input=wall.ask("/metrics", token=TOKEN).text, text=True,
                             capture_output=True, timeout=30, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, ""), "promtool has nothing against /metrics"


def test_jobs_appear_with_plausible_usage(samples):
    """A later sample closes the window in which everything was scraped."""
    daemon.eventually(lambda: time.time() % 300 > 5, 10)  # a window with but one scrape knows no CPU
    later = {"__name__": "container_memory_working_set_bytes", "namespace": "test", "pod": "clock-0", "container": "c"}
    sent = daemon.write(samples.port, daemon.write_body([(later, [(time.time() + 600, 1.0)])]))
    assert sent.status == 204, "a sample of ten minutes later is taken"
    # One window or, at a border of windows, two.
    daemon.eventually(lambda: samples.get("/api/v1/jobs")["total"] >= 3, 30)
    jobs = {j["name"]: j for j in samples.get("/api/v1/jobs")["jobs"]}
    assert {"machine/node", "prometheus", "node", "tautd"} <= set(jobs), f"its window closes and the jobs appear: {sorted(jobs)}"
    machine = jobs["machine/node"]
    print(f"      machine/node: {machine}")
    assert machine["tasks"] == 1, "the machine is one task"
    in_use, told = memory_in_use(), machine["memory"]["peak"]
    assert told is not None and in_use / 3 < told < in_use * 3, f"its memory is what /proc/meminfo says, within a factor of 3: {(told, in_use)}"
    cores = machine["cpu"]["usage"]
    assert cores is not None and 0 < cores <= os.cpu_count() * 1.2, "it uses some CPU, and no more than there is"
    own = jobs["tautd"]["memory"]["peak"]
    assert own is not None and 1e6 < own < 4e9, "tautd's own memory, by way of Prometheus, is plausible"
    own = jobs["prometheus"]["cpu"]["usage"]
    assert own is not None and 0 < own < os.cpu_count(), "so is Prometheus's CPU"


def test_tautd_stops_while_prometheus_still_sends(wall, samples):
    for process in (wall, samples):
        assert process.stop() == 0, "tautd stops while Prometheus still sends"
