#!/usr/bin/env python3
"""What is said before the first window, and a job's notices: of a label `cluster` that comes later, and of a burst of CPU once a day."""
import time

import daemon

MIB = 2**20
WINDOW = 300
DAY = 86400


def pod(at, seconds, **more):
    labels = {"namespace": "shop", "pod": "web-5d9c7b6f4d-x2x4z", "container": "app", "image": "x", **more}
    return [({"__name__": "container_cpu_usage_seconds_total", **labels}, [(at, seconds)]),
            ({"__name__": "container_memory_working_set_bytes", **labels}, [(at, 300 * MIB)])]


def send(tautd, series):
    """Samples are the clock here: those that run ahead of the windows are sent again, as a Prometheus does."""
    body = daemon.write_body(series)
    answers = []

    def is_taken():
        answers.append(daemon.write(tautd.port, body))
        return answers[-1].status != 503

    daemon.eventually(is_taken, 30, 0.05)
    if answers[-1].status != 204:
        raise RuntimeError(f"the write was answered with {answers[-1].status}: {answers[-1].text}")


def notices(tautd, job):
    return " ".join(tautd.get("/api/v1/jobs/" + daemon.quoted(job))["notices"])


def before_the_first_window(stage):
    """Every command that shows jobs says that no window has closed, not zeros and not that something failed."""
    tautd = stage.tautd(config="clock: samples\n")
    for command in (["jobs"], ["top"], ["decisions"], ["status"], ["jobs", "--group-by", "team"]):
        said = stage.run(stage.args.taut, *command, "--server", f"http://127.0.0.1:{tautd.port}")
        stage.check(said.returncode == 0 and "no window has closed yet: no sample has arrived" in said.stdout and " 0 cores" not in said.stdout, f"taut {' '.join(command)} says what is missing", said.stdout + said.stderr)
    tautd.stop()


def a_cluster_later(stage):
    tautd = stage.tautd(config="clock: samples\n")
    begin = int(time.time()) // 3600 * 3600 - 6 * 3600
    for minute in range(0, 300, 2):
        at = begin + 60 * minute
        send(tautd, pod(at, 1000 + 30.0 * minute, **({"cluster": "prod"} if minute >= 150 else {})))
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= begin + 250 * 60, 60)
    names = sorted(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"])
    stage.equal(names, ["prod/shop/deployment/web/app", "shop/deployment/web/app"], "series with another label are of another job")
    said = notices(tautd, names[0])
    stage.check(f"there is a job {names[1]} from before they had it, whose history does not count here" in said and "labeldrop" in said, "it says which job has its history, and what keeps the name", said)
    stage.check("from before they had it" not in notices(tautd, names[1]), "the job of before does not say it of itself")
    tautd.stop()


def a_burst_a_day(stage):
    """4 cores for a window a day, else .1: no limit but the peak has it all, so the job says what may be done."""
    tautd = stage.tautd(config="clock: samples\n")
    days, used = 9, 0.0
    begin = int(time.time()) // DAY * DAY - (days + 1) * DAY
    for window in range(days * 288):
        send(tautd, pod(begin + window * WINDOW, 1000 + used))
        used += (4 if window % 288 == 100 else 0.1) * WINDOW
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= begin + (days * 288 - 5) * WINDOW, 60)
    job = tautd.get("/api/v1/jobs")["jobs"][0]
    said = notices(tautd, job["name"])
    stage.check(job["cpu"]["days"] >= 5 and 3 * job["cpu"]["days_over"] >= job["cpu"]["days"], "its usage is above the recommended limit on some of its days", job["cpu"])
    stage.check("cpu.startup_window" in said and "throttled" in said, "it says that, and names what may be done", said)
    tautd.stop()


def main():
    with daemon.Stage(daemon.arguments(__doc__)) as stage:
        before_the_first_window(stage)
        a_cluster_later(stage)
        a_burst_a_day(stage)
        stage.finish()


if __name__ == "__main__":
    main()
