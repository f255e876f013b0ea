#!/usr/bin/env python3
"""Debian's Prometheus and node exporter, scraped each second and written on to tautd; tautd scraped by Prometheus.

Two tautds get the same: one by the wall clock, with tokens, as in production; and one by the clock of the samples,
whose window is closed at the end by a sample of ten minutes later, so that the jobs can be looked at.
"""
import os
import subprocess
import time

import daemon

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
    """The value of a query with one result; None without one."""
    answer = daemon.ask(port, "/api/v1/query?query=" + daemon.quoted(expression)).json()
    result = answer["data"]["result"]
    return float(result[0]["value"][1]) if len(result) == 1 else None


def metric(text, name):
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name)


def memory_in_use():
    with open("/proc/meminfo", encoding="ascii") as lines:
        kib = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return (kib["MemTotal"] - kib["MemAvailable"]) * 1024


def start_all(stage):
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


def samples_arrive(stage, wall):
    def ingest():
        return wall.get("/api/v1/status", token=TOKEN)["ingest"]

    stage.check(daemon.eventually(lambda: ingest()["accepted"] >= 200, 60), "samples of mapped series are accepted",
                ingest())
    stage.check(daemon.eventually(lambda: ingest()["unmapped"] >= 10_000, 60), "others are counted as unmapped",
                ingest())
    counts = ingest()
    print(f"      {counts}")
    lost = {k: counts[k] for k in ("far_future", "too_late", "over_capacity", "refused", "invalid", "conflicts")}
    stage.equal(sum(lost.values()), 0, "none is refused")
    text = wall.ask("/metrics", token=TOKEN).text
    stage.check(metric(text, "tautd_series") >= 5, "series are mapped", metric(text, "tautd_series"))
    stage.check(metric(text, "tautd_unmapped_series") >= 500, "and unmapped ones known",
                metric(text, "tautd_unmapped_series"))


def prometheus_sees_us(stage, wall, port):
    stage.check(daemon.eventually(lambda: query(port, 'up{job="tautd"}') == 1, 30), "Prometheus: tautd is up")
    accepted = 'tautd_samples_total{outcome="accepted"}'
    stage.check(daemon.eventually(lambda: (query(port, accepted) or 0) > 0, 30), "it has what tautd counts")
    stage.equal(query(port, "count(tautd_build_info)"), 1, "and its version")
    sent = "prometheus_remote_storage_"
    stage.check(daemon.eventually(lambda: (query(port, f"sum({sent}samples_total)") or 0) > 0, 30),
                "it says it has sent samples")
    stage.equal(query(port, f"sum({sent}samples_failed_total)"), 0, "and that none failed")
    checked = subprocess.run(["promtool", "check", "metrics"], input=wall.ask("/metrics", token=TOKEN).text, text=True,
                             capture_output=True, timeout=30, check=False)
    stage.equal((checked.returncode, checked.stdout + checked.stderr), (0, ""), "promtool has nothing against /metrics")


def jobs_appear(stage, samples):
    """A sample of later closes the window in which all was scraped."""
    daemon.eventually(lambda: time.time() % 300 > 5, 10)  # a window with but one scrape knows no CPU
    later = {"__name__": "container_memory_working_set_bytes", "namespace": "test", "pod": "clock-0", "container": "c"}
    sent = daemon.write(samples.port, daemon.write_body([(later, [(time.time() + 600, 1.0)])]))
    stage.equal(sent.status, 204, "a sample of ten minutes later is taken")
    # One window or, at a border of windows, two.
    daemon.eventually(lambda: samples.get("/api/v1/jobs")["total"] >= 3, 30)
    jobs = {j["name"]: j for j in samples.get("/api/v1/jobs")["jobs"]}
    stage.check({"machine/node", "prometheus", "node", "tautd"} <= set(jobs), "its window closes and the jobs appear",
                sorted(jobs))
    machine = jobs["machine/node"]
    print(f"      machine/node: {machine}")
    stage.equal(machine["tasks"], 1, "the machine is one task")
    in_use, told = memory_in_use(), machine["memory"]["peak"]
    stage.check(told is not None and in_use / 3 < told < in_use * 3,
                "its memory is what /proc/meminfo says, within a factor of 3", (told, in_use))
    cores = machine["cpu"]["usage"]
    stage.check(cores is not None and 0 < cores <= os.cpu_count() * 1.2, "it uses some CPU, and no more than there is",
                cores)
    own = jobs["tautd"]["memory"]["peak"]
    stage.check(own is not None and 1e6 < own < 4e9, "tautd's own memory, by way of Prometheus, is plausible", own)
    own = jobs["prometheus"]["cpu"]["usage"]
    stage.check(own is not None and 0 < own < os.cpu_count(), "so is Prometheus's CPU", own)


def main():
    daemon.skip_without("prometheus", "promtool", "prometheus-node-exporter")
    with daemon.Stage(daemon.arguments(__doc__)) as stage:
        wall, samples, port = start_all(stage)
        samples_arrive(stage, wall)
        prometheus_sees_us(stage, wall, port)
        jobs_appear(stage, samples)
        for process in stage.processes[:2]:
            stage.equal(process.stop(), 0, "tautd stops while Prometheus still sends")
    stage.finish()


if __name__ == "__main__":
    main()
