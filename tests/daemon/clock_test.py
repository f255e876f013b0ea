#!/usr/bin/env python3
"""A start far beyond the stored data decides and ends nothing until its clock is confirmed: by time, or by an operator.

The stored data are of yesterday. To tautd that is a stop of a day, or a machine that boots a day ahead.
"""
import json
import pathlib
import shutil
import time

import daemon

STEP = 30
HOUR = 3600
OPERATOR = "operator-token-0123456789"
READER = "reader-token-0123456789"
QUOTA = "groups: [{name: shop, quotas: [{tier: production, resource: cpu, nominal: 40}]}]\n"
BUDGETS = """businesses: [{name: retail, budget: 1000}]
groups: [{name: shop, shares: {retail: 100%}}]
"""


def scrape(at):
    labels = {"namespace": "shop", "pod": "web-5d4f8c7b9d-xbbbz", "container": "app"}
    return daemon.write_body([
        ({"__name__": "container_cpu_usage_seconds_total", "cpu": "total", **labels}, [(at, at % 100_000 * 0.1)]),
        ({"__name__": "container_memory_working_set_bytes", **labels}, [(at, 2e8)])])


def send(stage, tautd, begin, end):
    for at in range(begin, end, STEP):
        answer = daemon.write(tautd.port, scrape(at), token=OPERATOR)
        if answer.status != 204:
            stage.check(False, f"samples of {at} are taken", f"{answer.status} {answer.text}")


def config(stage, more):
    (stage.dir / "quota.yaml").write_text(QUOTA)
    (stage.dir / "budgets.yaml").write_text(BUDGETS)
    operators, readers = stage.file("operators", OPERATOR + "\n"), stage.file("readers", READER + "\n")
    return f"""server: {{tokens: {{operator_file: {operators}, reader_file: {readers}}}}}
quota: {{file: {stage.dir}/quota.yaml}}
budgets: {{file: {stage.dir}/budgets.yaml}}
prices: {{core_hour: 1, gib_hour: 0.1}}
store: {{decision_days: 400}}
{more}"""


def through(tautd):
    return tautd.get("/api/v1/status", token=OPERATOR)["last_window_end"]


def metric(tautd, name):
    for line in tautd.ask("/metrics", token=OPERATOR).text.splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    return None


def post(tautd, path, body, token=OPERATOR):
    return tautd.ask(path, "POST", json.dumps(body), {"Content-Type": "application/json"}, token=token)


def entries(tautd):
    return len(tautd.get("/api/v1/budget-ledger?limit=1000", token=OPERATOR)["entries"])


def yesterday(stage, store):
    """Two hours of samples that end 25 hours ago; the time at which the stored windows end."""
    tautd = stage.tautd(config=config(stage, "clock: samples\n"), store=store)
    end = int(time.time()) - 25 * HOUR
    send(stage, tautd, end - 2 * HOUR, end)
    stage.check(daemon.eventually(lambda: (through(tautd) or 0) > end - 15 * 60, 30), "windows of yesterday are stored")
    stage.check(daemon.eventually(lambda: entries(tautd) > 0, 30), "the ledger has its definition")
    stage.equal(tautd.stop(), 0, "and tautd stops")
    return end


def waits_for_an_operator(stage, store):
    tautd = stage.tautd(config=config(stage, "clock_wait: 1h\n"), store=store)
    stored, ledger = through(tautd), entries(tautd)
    ready = tautd.ask("/readyz")
    stage.check(ready.status == 200 and "beyond the stored data" in ready.text, "/readyz is ready and says what it waits for", ready.text)
    stage.check("taut confirm-clock" in tautd.output(), "so does the log", tautd.output()[-600:])
    stage.equal(metric(tautd, "tautd_clock_unconfirmed"), 1, "and the metric")
    now = int(time.time())
    send(stage, tautd, now - 900, now)
    stage.equal(metric(tautd, "tautd_waiting_samples") > 30, True, "samples are taken")
    ask = {"group": "shop", "tier": "production", "cpu": 1}
    answer = post(tautd, "/api/v1/requests", ask)
    stage.check(answer.status == 503 and "beyond the stored data" in answer.text, "a request for quota is answered 503", answer.text)
    grant = {"act": "grant", "of": "business:retail", "amount": "5", "why": "a test"}
    answer = post(tautd, "/api/v1/budget-ledger", grant)
    stage.check(answer.status == 503 and "beyond the stored data" in answer.text, "as is an entry of the ledger", answer.text)
    time.sleep(2)
    stage.equal((through(tautd), entries(tautd)), (stored, ledger), "no window closes, and nothing is entered")
    for suffix in ("", ".budgets", ".requests"):
        stage.check(pathlib.Path(f"{store}{suffix}.before-clock").exists(), f"a copy of tautd.db{suffix} is there")
    stage.equal(post(tautd, "/api/v1/clock/confirm", {}, READER).status, 403, "a reader may not confirm the clock")
    token = stage.file("operator-token", OPERATOR + "\n")
    done = stage.run(stage.args.taut, "confirm-clock", "--server", f"http://127.0.0.1:{tautd.port}", "--token-file", token)
    stage.equal((done.returncode, done.stdout), (0, "the clock is confirmed\n"), "an operator confirms it")
    stage.check(daemon.eventually(lambda: metric(tautd, "tautd_clock_unconfirmed") == 0, 10), "the wait is over")
    stage.check(daemon.eventually(lambda: through(tautd) > now - 1000, 60), "windows close", through(tautd))
    stage.check(daemon.eventually(lambda: post(tautd, "/api/v1/budget-ledger", grant).status == 200, 10), "the ledger is written again")
    stage.equal(post(tautd, "/api/v1/clock/confirm", {}).status, 409, "there is nothing more to confirm")
    stage.check(".before-clock" in tautd.output(), "the log says where the copies are", tautd.output()[-600:])
    stage.equal(tautd.stop(), 0, "tautd stops")
    return stored, ledger


def back(stage, store, stored, ledger):
    """As docs/operate/backup.md says."""
    for suffix in ("", ".budgets", ".requests"):
        for log in ("-wal", "-shm"):
            pathlib.Path(f"{store}{suffix}{log}").unlink(missing_ok=True)
        shutil.move(f"{store}{suffix}.before-clock", f"{store}{suffix}")
    for samples in store.parent.glob("tautd.db.samples.*"):
        samples.unlink()
    tautd = stage.tautd(config=config(stage, "clock_wait: 5s\n"), store=store)
    stage.equal((through(tautd), entries(tautd)), (stored, ledger), "the copies are the store and ledger as they were")
    stage.check(daemon.eventually(lambda: metric(tautd, "tautd_clock_unconfirmed") == 0, 20), "time ends the wait, too")
    stage.equal(tautd.stop(), 0, "tautd stops")


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    with daemon.Stage(args) as stage:
        store = stage.dir / "tautd.db"
        yesterday(stage, store)
        stored, ledger = waits_for_an_operator(stage, store)
        back(stage, store, stored, ledger)
        stage.finish()


if __name__ == "__main__":
    main()
