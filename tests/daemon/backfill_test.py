#!/usr/bin/env python3
"""tautd with an empty store learns two days from Debian's Prometheus before it takes new samples, and only once."""
import time

import daemon

DAYS = 2
JOBS = ("web", "db", "cron")


def openmetrics(now):
    """A pod a job, a sample a minute: CPU as a counter, memory as a gauge."""
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
    stage.equal(made.returncode, 0, "promtool makes two days of history")
    port = daemon.free_port()
    stage.start("prometheus", ["prometheus", f"--web.listen-address=127.0.0.1:{port}", f"--storage.tsdb.path={data}",
                               f"--config.file={stage.file('prometheus.yml', 'global: {}' + chr(10))}",
                               "--storage.tsdb.retention.time=30d"],
                ready=lambda process: daemon.answers(port, "/-/ready"))
    return port


PRICES = """currency: EUR
tiers: [{name: production, rule: usage, prices: [{core_hour: 0.03, gib_hour: 0.004}]}]
pool: {cores: 8, memory: 32GiB, core_hour: 0.03, gib_hour: 0.004, idle: platform}
"""


def capacity(stage, tautd, when):
    """The hours of history are those of the stated pool; nothing was promised in them."""
    answer = tautd.get("/api/v1/capacity")
    known = [(c, u) for c, u in zip(answer["cpu"]["capacity"], answer["cpu"]["usage"]) if None not in (c, u)]
    stage.check(len(known) >= DAYS * 24 - 2, f"{when} the hours of two days are in the history of capacity", len(known))
    stage.check(all(c == 8 and abs(u - 0.6) < 0.1 for c, u in known[1:-1]), "with the pool that the price file states", known[:3])
    stage.equal(answer["promises"], [], "and nothing was promised")


def flagged(stage, port):
    """`tautd --prometheus` alone reads the past, and no page then says that no window has closed."""
    tautd = stage.tautd("--prometheus", f"http://127.0.0.1:{port}")
    stage.check(daemon.eventually(lambda: "14 of 14 days" in tautd.output(), 120),
                "--prometheus reads the history at the start", tautd.output()[-500:])
    why = tautd.get("/api/v1/capacity")["why"]
    stage.check("No window has closed" not in why and "capacity of the cell is not known" in why, "capacity says what is missing, not that no window has closed", why)
    stage.check(any(j["memory"]["would_be"] for j in tautd.get("/api/v1/jobs")["jobs"]), "and limits are recommended from the history")
    tautd.stop()


def main():
    daemon.skip_without("prometheus", "promtool")
    with daemon.Stage(daemon.arguments(__doc__)) as stage:
        port = prometheus_with_history(stage)
        store = str(stage.dir / "t.db")
        config = (f"clock_wait: 0s\nbackfill: {{prometheus: \"http://127.0.0.1:{port}\", days: {DAYS}, labels: [\"cluster=north\"]}}\n"
                  f"prices: {{file: {stage.file('prices.yaml', PRICES)}}}\n")
        tautd = stage.tautd(config=config, store=store)
        stage.check(daemon.eventually(lambda: "backfill: 2 of 2 days" in tautd.output(), 60), "the past is read",
                    tautd.output()[-500:])
        jobs = {j["name"]: j for j in tautd.get("/api/v1/jobs")["jobs"]}
        stage.equal(set(jobs), {f"north/shop/deployment/{j}/app" for j in JOBS}, "its jobs are known")
        history = tautd.get("/api/v1/fleet/history?points=5000")
        stage.check(len(history["time"]) > (DAYS * 288) * 0.95, "nearly all windows of two days are there",
                    len(history["time"]))
        cpu = history["cpu"]["usage"]
        stage.check(abs(cpu[len(cpu) // 2] - 0.6) < 0.01, "0.1 + 0.2 + 0.3 cores are used", cpu[len(cpu) // 2])
        stage.check(jobs["north/shop/deployment/web/app"]["memory"]["would_be"], "and limits are recommended from it",
                    jobs["north/shop/deployment/web/app"])
        capacity(stage, tautd, "at once")
        flagged(stage, port)
        stage.equal(tautd.stop(), 0, "it stops")
        again = stage.tautd(config=config, store=store)
        time.sleep(1)
        stage.check("backfill" not in again.output(), "the store is not empty now: the past is not read again",
                    again.output()[-500:])
        capacity(stage, again, "after a restart")
        stage.equal(again.get("/api/v1/jobs")["total"], len(JOBS), "the jobs are still there")
    stage.finish()


if __name__ == "__main__":
    main()
