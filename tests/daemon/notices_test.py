"""Messages before the first window, and a job's notices: a label `cluster` that appears later, and a burst of CPU once a day."""
import time

import daemon

MIB = 2**20
WINDOW = 300
DAY = 86400


def pod(at, seconds, **more):
    labels = {"namespace": "shop", "pod": "web-5d9c7b6f4d-x2x4z", "container": "app", "image": "x", **more}
    return [({"__name__": "container_cpu_usage_seconds_total", **labels}, [(at, seconds)]),
            ({"__name__": "container_memory_working_set_bytes", **labels}, [(at, 300 * MIB)])]


def notices(tautd, job):
    return " ".join(tautd.get("/api/v1/jobs/" + daemon.quoted(job))["notices"])


def test_commands_say_that_no_window_has_closed(stage, tautd):
    """Every command that shows jobs reports that no window has closed, in place of zeros or an error."""
    for command in (["jobs"], ["top"], ["decisions"], ["status"], ["jobs", "--group-by", "team"]):
        said = stage.taut(tautd, *command)
        assert said.returncode == 0 and "no window has closed yet: no sample has arrived" in said.stdout and " 0 cores" not in said.stdout, (
            f"taut {' '.join(command)} says what is missing: {said.stdout + said.stderr}")


def test_a_job_whose_series_get_a_cluster_label_says_so(tautd):
    begin = int(time.time()) // 3600 * 3600 - 6 * 3600
    for minute in range(0, 300, 2):
        at = begin + 60 * minute
        daemon.send(tautd.port, pod(at, 1000 + 30.0 * minute, **({"cluster": "prod"} if minute >= 150 else {})), ahead=True)
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= begin + 250 * 60, 60)
    names = sorted(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"])
    assert names == ["prod/shop/deployment/web/app", "shop/deployment/web/app"], "series with another label are of another job"
    said = notices(tautd, names[0])
    assert f"there is a job {names[1]} from before they had it, whose history does not count here" in said and "labeldrop" in said, (
        "it says which job has its history, and what keeps the name")
    assert "from before they had it" not in notices(tautd, names[1]), "the job of before does not say it of itself"


def test_a_burst_a_day_is_a_notice(tautd):
    """4 cores in one window a day, else .1: only the peak covers it, so the job's notice says what to do."""
    days, used = 9, 0.0
    begin = int(time.time()) // DAY * DAY - (days + 1) * DAY
    for window in range(days * 288):
        daemon.send(tautd.port, pod(begin + window * WINDOW, 1000 + used), ahead=True)
        used += (4 if window % 288 == 100 else 0.1) * WINDOW
    daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= begin + (days * 288 - 5) * WINDOW, 60)
    job = tautd.get("/api/v1/jobs")["jobs"][0]
    said = notices(tautd, job["name"])
    assert job["cpu"]["days"] >= 5 and 3 * job["cpu"]["days_over"] >= job["cpu"]["days"], (
        "its usage is above the recommended limit on some of its days")
    assert "cpu.startup_window" in said and "throttled" in said, "it says that, and names what may be done"
