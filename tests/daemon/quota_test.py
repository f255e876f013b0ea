"""Quota of a tautd: usage by jobs, requests that are admitted, queued and refused, and the effect of a kill, a full
queue and another quota file on them."""
import json
import signal
import threading
import time

import pytest

import daemon

QUOTA = """groups:
  - {name: pool}
  - {name: shop, parent: pool, quotas: [{tier: production, resource: cpu, nominal: 4}, {tier: production, resource: memory, nominal: 8GiB}]}
  - {name: media, parent: pool, max_requests: 2, quotas: [{tier: production, resource: cpu, nominal: 2}, {tier: production, resource: memory, nominal: 8GiB}]}
"""
READER = "reader-0123456789abcdef0123456789"
OPERATOR = "operator-0123456789abcdef012345678"


def series(name, labels, value, start, count=30):
    return ({"__name__": name, **labels}, [(start + 10 * i, value) for i in range(count)])


def web(start, cores, count=30):
    """Usage of a container of shop with a limit of `cores`, and of one in a namespace without quota."""
    out = []
    for namespace, pod in (("shop", "web-0"), ("lab", "tool-0")):
        labels = {"namespace": namespace, "pod": pod, "container": "app"}
        out += [({"__name__": "container_cpu_usage_seconds_total", **labels}, [(start + 10 * i, 5 * i) for i in range(count)]),
                series("container_memory_working_set_bytes", labels, 1e9, start, count),
                series("container_spec_memory_limit_bytes", labels, 2 ** 31, start, count),
                series("container_spec_cpu_quota", labels, cores * 1e5, start, count)]
    return out


class Quota:
    def __init__(self, stage, tautd):
        self.stage, self.tautd = stage, tautd

    def call(self, method, path, body=None, token=OPERATOR):
        text = json.dumps(body) if body is not None else None
        return self.tautd.ask(path, method=method, body=text, token=token, timeout=30)

    def make(self, status=200, **asked):
        answer = self.call("POST", "/api/v1/requests", asked)
        assert answer.status == status, f"a request for {asked}: {status} ({answer.text[:200]})"
        return answer.json()

    def state(self, number):
        one = self.call("GET", f"/api/v1/requests/{number}").json()
        return one["end"] or one["state"]

    def in_use(self, group, resource="cpu"):
        for row in self.call("GET", "/api/v1/quota").json()["rows"]:
            if (row["group"], row["resource"]) == (group, resource):
                return row["in_use"]
        return None


def config(stage):
    return f"""clock: samples
quota: {{file: {stage.dir / "quota.yaml"}, grpc: {{listen: ["127.0.0.1:0"]}}}}
server:
  tokens: {{reader_file: {stage.file("readers", READER)}, operator_file: {stage.file("operators", OPERATOR + " anna")}}}
"""


def write(tautd, samples):
    return daemon.write(tautd.port, daemon.write_body(samples), OPERATOR).status


@pytest.fixture(scope="module")
def quota(stage):
    (stage.dir / "quota.yaml").write_text(QUOTA)
    return Quota(stage, stage.tautd(config=config(stage), store=stage.dir / "tautd.db"))


def test_nothing_is_decided_before_a_window_has_closed(quota, story):
    start = int(time.time()) // 300 * 300 - 3600
    answer = quota.call("POST", "/api/v1/requests", {"group": "shop", "tier": "production", "cpu": 1})
    assert answer.status == 503, "nothing is decided before a window has closed"
    write(quota.tautd, web(start, 1.5, 60))
    assert daemon.eventually(lambda: quota.in_use("shop") == 1.5, 20), (
        f"the limit of the job of shop is in use: {quota.call('GET', '/api/v1/quota').text}")


def test_a_job_of_another_group_is_uncovered(quota, story):
    page = quota.call("GET", "/api/v1/quota").json()
    assert [(u["group"], u["jobs"]) for u in page["uncovered"]] == [("lab", 1)], "a job of another group is uncovered"


def test_requests_are_admitted_queued_and_refused(quota, story):
    story.first = quota.make(group="shop", tier="production", cpu=4, memory="1GiB")
    assert story.first["state"] == "admitted", "4 cores fit by what media leaves"
    assert story.first["who"].split(" ")[0] == "anna", "who asked is the token's name"
    assert quota.in_use("shop") == 5.5, "they are held"
    story.second = quota.make(group="media", tier="production", cpu=1, tasks=2)
    assert story.second["state"] == "queued", "media's 2 cores are lent"
    assert "0.5 cores left" in story.second["reason"], "with the reason"
    assert quota.make(group="media", tier="production", cpu=7)["end"] == "refused", "7 cores can never fit"


def test_wrong_requests_say_what_is_wrong(quota, story):
    for body, what in (({"group": "shop"}, "tier is missing"), ({"group": "shop", "tier": "production"}, "nothing is asked for"),
                       ({"group": "shop", "tier": "production", "cpu": "x"}, "expected a number of cores"),
                       ({"group": "shop", "tier": "production", "cpu": 1, "tasks": 0}, "tasks"),
                       ({"group": "shop", "tier": "production", "cpu": 1, "job": "a\x1b[31mb"}, "UTF-8 without control characters"),
                       ({"group": "shop", "tier": "production", "cpu": 1, "job": "a\u202eb"}, "UTF-8 without control characters"),
                       ({"group": "shop", "tier": "production", "cpu": 1, "job": "a\0b"}, "UTF-8 without control characters"),
                       ({"group": "sh\u202eop", "tier": "production", "cpu": 1}, "UTF-8 without control characters"),
                       ([], "expected a JSON object"), ({"group": "shop", "tier": "production", "cpu": {}}, "a text or a number")):
        answer = quota.call("POST", "/api/v1/requests", body)
        assert answer.status == 400 and what in answer.text, f"{body}: 400, {what}"
    answer = quota.call("POST", "/api/v1/requests", {"group": "shops", "tier": "production", "cpu": 1})
    assert answer.status == 404 and "shop" in answer.text, "an unknown group: 404 with the nearest"


def test_a_reader_may_check_and_not_make_a_request(quota, story):
    assert quota.call("POST", "/api/v1/requests", {"group": "shop", "tier": "production", "cpu": 1}, READER).status == 403, (
        "a reader may not make a request")
    answer = quota.call("GET", "/api/v1/admission?group=media&tier=production&cpu=0.5", token=READER)
    assert answer.json()["outcome"] == "admitted", "but check one"


def test_requests_outlive_a_kill(stage, quota, story):
    """SIGKILL while requests are made: answered requests exist once, and no other request counts."""
    answered, stop = [], threading.Event()

    def make():
        while not stop.is_set():
            try:
                answer = quota.call("POST", "/api/v1/requests", {"group": "shop", "tier": "production", "memory": "1MiB"})
            except OSError:
                return
            if answer.status == 200:
                answered.append(answer.json()["id"])

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert daemon.eventually(lambda: len(answered) > 200, 30), "requests are made"
    quota.tautd.kill()
    stop.set()
    for thread in threads:
        thread.join()
    quota.tautd = stage.tautd(config=config(stage), store=stage.dir / "tautd.db")
    page = quota.call("GET", "/api/v1/requests?limit=10000&state=admitted").json()["requests"]
    numbers = [r["id"] for r in page]
    older = quota.call("GET", "/api/v1/requests?limit=2&before=10").json()["requests"]
    assert [r["id"] for r in older] == [9, 8], "older ones come page by page"
    answer = quota.call("GET", "/api/v1/requests?group=shops")
    assert answer.status == 404 and "no group" in answer.text, "a group that is not there is named"
    assert len(set(answered)) == len(answered), "each number was given once"
    assert sorted(set(answered) - set(numbers)) == [], "every request that was answered is kept"
    kept = len(numbers) - 1  # beside the first
    assert len(answered) <= kept <= len(answered) + 4, f"and at most those in flight beside them: {(kept, len(answered))}"
    assert quota.state(story.first["id"]) == "admitted", "as is the one before"
    assert quota.state(story.second["id"]) == "queued", "and the queued one"
    mebibytes = quota.in_use("shop", "memory") / 2 ** 20
    assert mebibytes == 2048 + 1024 + kept, "what is held is what is kept"


def test_the_same_over_grpc(stage, quota, story):
    """gRPC has the tokens, roles and texts of the HTTP API."""
    port = int(quota.tautd.output().partition("requests for quota (gRPC) on port ")[2].split()[0])
    text = lambda number, value: daemon.field(number, value.encode())
    def ask(group, cpu="0.5"):
        return text(1, group) + text(2, "production") + daemon.field(3, text(1, "cpu") + text(2, cpu)) + text(5, "rpc/job")

    def call(method, message, token=OPERATOR):
        return daemon.grpc(stage, port, f"taut.admission.v1.Admission/{method}", message, token)

    verdict = call("Check", ask("shop"))
    assert isinstance(verdict, bytes) and b"admitted" in verdict, "a check is answered"
    code, said = call("Check", ask("shops"))
    assert code == 5 and "shops" in said, f"an unknown group is NOT_FOUND: {(code, said)}"
    assert call("Check", ask("shop"), None)[0] == 16, "without a token it is UNAUTHENTICATED"
    assert call("Make", ask("shop"), READER)[0] == 7, "a reader makes none: PERMISSION_DENIED"
    code, said = call("Check", ask("shop", "many"))
    assert code == 3 and "many" in said, f"nonsense is INVALID_ARGUMENT, and named: {(code, said)}"
    made = call("Make", ask("shop"))
    assert isinstance(made, bytes) and b"rpc/job" in made, "a request is made"
    newest = quota.call("GET", "/api/v1/requests?limit=1").json()["requests"][0]
    assert (newest["job"], newest["state"]) == ("rpc/job", "admitted"), "and is there over HTTP"
    code, said = call("Make", ask("shop"))
    assert code == 9 and "end it before" in said, f"a second one for the job is FAILED_PRECONDITION: {(code, said)}"
    ended = call("End", daemon.varint(1 << 3) + daemon.varint(newest["id"]))
    assert isinstance(ended, bytes) and b"withdrawn" in ended, "it is ended"


def test_what_was_in_use_is_known_by_the_hour(quota, story):
    """The hourly usage is known, although the daemon was killed before it wrote the hours."""
    rows = quota.call("GET", "/api/v1/quota").json()["rows"]
    assert all("history" not in r for r in rows if r["cohort"]), "a cohort has no use of its own"
    history = next(r["history"] for r in rows if (r["group"], r["resource"]) == ("shop", "cpu"))
    assert history["in_use_peak"] >= 1.5 and 0 < history["usage_peak"] < 1.5 and "recommended" not in history and "after 48 hours" in history["reason"], (
        "limits and usage of shop, and nothing is recommended yet")


def test_a_request_that_ends_admits_the_queued_one(quota, story):
    assert quota.call("DELETE", f"/api/v1/requests/{story.first['id']}").json()["end"] == "withdrawn", "the first ends"
    assert quota.call("DELETE", f"/api/v1/requests/{story.first['id']}").status == 409, "once"
    assert daemon.eventually(lambda: quota.state(story.second["id"]) == "admitted", 10), "and the queued one is admitted"


def test_a_lowered_quota_warns_and_takes_nothing_away(stage, quota, story):
    (stage.dir / "quota.yaml").write_text(QUOTA.replace("nominal: 4}", "nominal: 1}"))
    quota.tautd.popen.send_signal(signal.SIGHUP)
    assert daemon.eventually(lambda: quota.call("GET", "/api/v1/quota").json()["warnings"], 10), "a lowered quota warns of what is beyond it"
    assert quota.state(story.second["id"]) == "admitted", "what was admitted stays"


def test_a_group_has_as_many_requests_as_it_may(quota, story):
    quota.make(group="media", tier="production", memory="1MiB")
    answer = quota.call("POST", "/api/v1/requests", {"group": "media", "tier": "production", "memory": "1MiB"})
    assert answer.status == 409 and "the most is 2" in answer.text and "end some first" in answer.text, "a group has as many requests as it may"
    assert quota.make(group="shop", tier="production", memory="1MiB")["state"] == "admitted", "which is nothing to another group"


def test_a_wrong_file_is_named_and_changes_nothing(stage, quota, story):
    (stage.dir / "quota.yaml").write_text("groups: [{name: shop, parent: nobody}]\n")
    quota.tautd.popen.send_signal(signal.SIGHUP)
    assert daemon.eventually(lambda: "reload_failed" in quota.tautd.output(), 10), "a wrong file is named in the log"
    assert quota.in_use("media") == 2, "and the quota before holds"


def test_metrics_tell_the_quota(quota, story):
    text = quota.tautd.ask("/metrics", token=READER).text
    assert 'tautd_quota{group="media",tier="production",resource="cpu"} 2' in text, "metrics tell the quota"
    assert "tautd_quota_uncovered_jobs 1" in text, "and what it does not cover"


def test_errors_quote_shortly(quota, story):
    """An error quotes a readable part of the sent text, and splits no character."""
    for group in ("g" * 5000, "g" * 127 + "é" * 2000, "é" * 2500):
        for path in ("/api/v1/admission?tier=production&cpu=1&group=", "/api/v1/requests?group=", "/api/v1/bills?format="):
            answer = quota.call("GET", path + daemon.quoted(group))
            said = answer.json()["error"]
            assert answer.status in (400, 404) and group[:60] in said and len(said.encode()) < 400 and "\ufffd" not in said and "\\x" not in said, (
                f"{path}: a name of {len(group.encode())} bytes is quoted shortly: {(answer.status, len(said), said[:200])}")
    answer = quota.call("POST", "/api/v1/requests", {"group": "g" * 5000, "tier": "production", "cpu": 1})
    assert answer.status == 404 and len(answer.text) < 400, f"in a body too: {(answer.status, answer.text[:200])}"


def test_hours_are_kept_and_those_of_an_older_version_are_taken_over(stage, quota, story):
    """The hours are in the store; a file beside it, as older versions had, becomes a row of it at the first start."""
    assert quota.tautd.stop() == 0, "it stops in order"
    (stage.dir / "quota.yaml").write_text(QUOTA)
    store, file = stage.dir / "tautd.db", stage.dir / "tautd.db.quota"
    kept = json.loads(daemon.state_of(store, "quota"))
    hours = next(p["hours"] for p in kept["places"] if (p["group"], p["resource"]) == ("shop", "cpu"))
    assert len(hours) in (3, 6) and hours[1] >= 1500, f"what was in use is kept, by the hour: {kept}"
    hours[:0] = [hours[0] - 1, 99000, 98000]
    number = len(hours) // 3
    daemon.in_store(store, "DELETE FROM states WHERE name IN ('quota', 'files_beside')")
    daemon.in_store(store, "DELETE FROM request_log")
    file.write_text(json.dumps(kept))
    quota.tautd = stage.tautd(config=config(stage), store=stage.dir / "tautd.db")
    history = next(r["history"] for r in quota.call("GET", "/api/v1/quota").json()["rows"] if (r["group"], r["resource"]) == ("shop", "cpu"))
    assert (history["hours"], history["in_use_peak"], history["usage_peak"]) == (number, 99, 98), "and is known after a restart"
    assert (stage.dir / "tautd.db.quota.imported").exists() and not file.exists(), "the file is put aside"
    assert quota.tautd.stop() == 0, "it stops in order"
