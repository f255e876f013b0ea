"""Third-party senders with history: a Prometheus with two days of three jobs, and an empty VictoriaMetrics."""
import json
import time

import daemon

SLICE_S = 300  # of what export() reads at a time
DAYS = 2
JOBS = ("web", "db", "cron")


def openmetrics(now):
    """Returns OpenMetrics text with one pod per job and a sample per minute: CPU as a counter, memory as a gauge."""
    out = []
    begin = now - DAYS * 86400
    for metric, kind in (("container_cpu_usage_seconds", "counter"), ("container_memory_working_set_bytes", "gauge")):
        out.append(f"# TYPE {metric} {kind}")
        for j, job in enumerate(JOBS):
            labels = f'container="app",namespace="shop",pod="{job}-5d4f8c7b9d-x2x4z"'
            name = metric + ("_total" if kind == "counter" else "")
            for k in range(0, now - begin, 60):
                value = k * 0.1 * (j + 1) if kind == "counter" else 1e8 * (j + 1) + 1e5 * (k // 60 % 50)
                out.append(f"{name}{{{labels}}} {value} {begin + k}")
    return "\n".join(out + ["# EOF", ""])


def prometheus_with_history(stage):
    now = int(time.time()) // 300 * 300
    text = stage.file("history.txt", openmetrics(now))
    data = stage.dir / "data"
    made = stage.run("promtool", "tsdb", "create-blocks-from", "openmetrics", text, data)
    assert made.returncode == 0, f"promtool makes two days of history: {made.stderr}"
    port = daemon.free_port()
    stage.start("prometheus", ["prometheus", f"--web.listen-address=127.0.0.1:{port}", f"--storage.tsdb.path={data}",
                               f"--config.file={stage.file('prometheus.yml', 'global: {}' + chr(10))}",
                               "--storage.tsdb.retention.time=30d"],
                ready=lambda process: daemon.answers(port, "/-/ready"))
    return port


def victoria_metrics(stage):
    """Starts VictoriaMetrics and returns its port."""
    port = daemon.free_port()
    stage.start("victoria-metrics",
                ["victoria-metrics", f"-httpListenAddr=127.0.0.1:{port}", f"-storageDataPath={stage.dir}/victoria",
                 "-search.latencyOffset=0s"],
                lambda p: daemon.answers(port, "/health"))
    return port


def export(port, begin, end):
    """Returns VictoriaMetrics' samples of [begin, end): [(labels, [(seconds, value)])]."""
    everything = daemon.quoted('{__name__!=""}')
    query = f"match[]={everything}&start={begin}&end={end - 0.001:.3f}"
    rows = [json.loads(line) for line in daemon.ask(port, "/api/v1/export?" + query).text.splitlines()]
    return [(row["metric"], list(zip([t / 1000 for t in row["timestamps"]], row["values"]))) for row in rows]
