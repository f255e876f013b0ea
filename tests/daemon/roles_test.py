"""Roles of a tautd with two groups: every route with every role, and nobody sees or changes data of another group.

The responses to users of one group are searched for every name of the other group: of the group, of its jobs, of its
users and of its requests. A refused or failed request leaves the other group unchanged.
"""
import csv
import http.client
import io
import json
import re
import signal
import time
from decimal import Decimal

import pytest

import daemon

QUOTA = """groups:
  - {name: pool}
  - {name: shop, parent: pool}
  - {name: shop-web, parent: shop, quotas: [{tier: production, resource: cpu, nominal: 4}, {tier: production, resource: memory, nominal: 8GiB}]}
  - {name: secretive, parent: pool, quotas: [{tier: production, resource: cpu, nominal: 40}, {tier: production, resource: memory, nominal: 80GiB}]}
"""
PRICES = """currency: EUR
tiers:
  - {name: production, rule: max_request_usage, prices: [{core_hour: 30, gib_hour: 4}]}
pool: {cores: 400, memory: 1TiB, core_hour: 0.02, gib_hour: 0.003, idle: proportional}
"""
BUDGETS = """businesses:
  - {name: commerce, budget: 1000}
  - {name: secretive-inc, budget: 2000}
groups:
  - {name: shop-web, shares: {commerce: 100%}}
  - {name: secretive, shares: {secretive-inc: 100%}}
"""
TOKENS = {name: f"{name}-0123456789abcdef0123456789" for name in
          ("writer", "reader", "platform", "operator", "member", "owner", "holder", "other")}
MINE, THEIRS = "shop-web/statefulset/web", "secretive/statefulset/hidden"
SECRET = re.compile(r"secretive|hidden|mallory", re.IGNORECASE)
# Response to each role: for its own group, then for the other group. 200 also stands for 204.
SEES, OWNS, ROLES = ("member", "owner", "holder"), ("owner",), ("writer", "reader", "platform", "operator", "member", "owner", "holder")
W, R, P, O, M, OW, H = ROLES
EVERYONE = {R, P, O, M, OW, H}
MONEY = {R, P, O, OW, H}
PLATFORM = {R, P, O}
# (method, path of the router): who may. Every row of the router must be here.
TABLE = {
    ("POST", "/api/v1/write"): {W, O},
    ("GET", "/api/v1/fleet"): EVERYONE, ("GET", "/api/v1/fleet/history"): PLATFORM,
    ("GET", "/api/v1/jobs"): EVERYONE, ("GET", "/api/v1/totals"): EVERYONE,
    ("GET", "/api/v1/costs"): MONEY, ("GET", "/api/v1/budgets"): MONEY, ("GET", "/api/v1/bills"): MONEY,
    ("GET", "/api/v1/businesses"): MONEY, ("GET", "/api/v1/budget-ledger"): MONEY, ("POST", "/api/v1/budget-ledger"): {P, O, H},
    ("GET", "/allocation"): MONEY, ("GET", "/allocation/compute"): MONEY,
    ("GET", "/api/v1/quota"): EVERYONE, ("GET", "/api/v1/admission"): EVERYONE, ("GET", "/api/v1/requests"): EVERYONE,
    ("POST", "/api/v1/requests"): {P, O, M, OW}, ("GET", "/api/v1/requests/{id}"): EVERYONE,
    ("DELETE", "/api/v1/requests/{id}"): {P, O, M, OW},
    ("GET", "/api/v1/decisions"): EVERYONE, ("GET", "/api/v1/decisions/{id}"): EVERYONE, ("GET", "/api/v1/ooms"): EVERYONE, ("GET", "/api/v1/tier_acts"): EVERYONE,
    ("GET", "/api/v1/settings"): EVERYONE, ("PATCH", "/api/v1/settings"): {O, OW},
    ("GET", "/api/v1/recommenders"): EVERYONE, ("GET", "/api/v1/status"): EVERYONE, ("GET", "/api/v1/login"): EVERYONE,
    ("POST", "/api/v1/clock/confirm"): {O},
    ("GET", "/api/v1/agents"): PLATFORM, ("GET", "/metrics"): PLATFORM, ("GET", "/api/v1/events"): EVERYONE,
    ("GET", "/api/v1/promises"): PLATFORM, ("GET", "/api/v1/capacity"): PLATFORM,
    ("GET", "/api/v1/machines"): PLATFORM, ("GET", "/api/v1/machines/{name}"): PLATFORM,
    ("GET", "/api/v1/openapi.yaml"): EVERYONE, ("GET", "/"): EVERYONE, ("GET", "/assets/{file}"): EVERYONE,
    ("GET", "/api/v1/jobs/{job}"): EVERYONE, ("GET", "/api/v1/jobs/{job}/usage"): EVERYONE,
    ("GET", "/api/v1/jobs/{job}/replicas"): EVERYONE, ("GET", "/api/v1/jobs/{job}/explain"): EVERYONE,
    ("GET", "/api/v1/jobs/{job}/settings"): EVERYONE, ("PATCH", "/api/v1/jobs/{job}/settings"): {O, OW},
    ("POST", "/api/v1/jobs/{job}/whatif"): EVERYONE,
}
QUERIES = {"/api/v1/totals": "by=namespace", "/allocation": "window=2d", "/allocation/compute": "window=2d&aggregate=namespace",
           "/api/v1/admission": "group=shop-web&tier=production&cpu=1"}
BODIES = {("POST", "/api/v1/budget-ledger"): {"act": "transfer", "of": "commerce", "to": "group:shop-web", "amount": "0.01", "why": "a test"},
          ("POST", "/api/v1/requests"): {"group": "shop-web", "tier": "production", "cpu": 0.01},
          ("PATCH", "/api/v1/settings"): {"mode": "observe"}, ("PATCH", "/api/v1/jobs/{job}/settings"): {"mode": "observe"},
          ("POST", "/api/v1/jobs/{job}/whatif"): {}}


def routes():
    """Returns the routes in the source's tables."""
    room = daemon.pathlib.Path(__file__).resolve().parents[2] / "src" / "server" / "api"
    return {row for file in room.glob("*.cc") for row in re.findall(r'routes\.Add\("([A-Z]+)", "(/[^"]*)"', file.read_text())}


def config(stage):
    files = {name: stage.file(name + ".tokens", f"{TOKENS[name]} {name}\n") for name in ("writer", "reader", "platform", "operator")}
    groups = stage.file("groups", f"{TOKENS['member']} member shop mia\n{TOKENS['owner']} owner shop olga\n"
                        f"{TOKENS['holder']} budget_holder shop-web,business:commerce hans\n{TOKENS['other']} owner secretive mallory\n")
    return f"""clock: samples
ingest: {{kubernetes_jobs: pods}}
quota: {{file: {stage.file("quota.yaml", QUOTA)}}}
budgets: {{file: {stage.file("budgets.yaml", BUDGETS)}}}
prices: {{core_hour: 0.03, gib_hour: 0.004, currency: EUR, budgets: ["all: 5", "namespace=secretive: 7", "namespace=shop-web: 3"], file: {stage.file("prices.yaml", PRICES)}}}
rules: [{{name: hidden rule, match: {{job: "secretive/*"}}, set: {{mode: auto}}}}, {{name: all, match: {{job: "*"}}, set: {{mode: auto}}}}]
server:
  tokens: {{writer_file: {files["writer"]}, reader_file: {files["reader"]}, platform_file: {files["platform"]}, operator_file: {files["operator"]}, group_file: {groups}}}
"""


def samples(start, count):
    """Returns samples of a container of each group, including OOM kills."""
    out = []
    for namespace, _, name in (MINE.split("/"), THEIRS.split("/")):
        labels = {"namespace": namespace, "pod": name + "-0", "container": "app"}
        at = [start + 15 * i for i in range(count)]
        for metric, value in (("container_cpu_usage_seconds_total", lambda i: 3.0 * i), ("container_memory_working_set_bytes", lambda i: 1e9),
                              ("container_spec_memory_limit_bytes", lambda i: 2.0 ** 31), ("container_spec_cpu_quota", lambda i: 1e5),
                              ("container_oom_events_total", lambda i: i // 5000)):
            out.append(({"__name__": metric, **labels}, [(t, value(i)) for i, t in enumerate(at)]))
    return out


class Roles:
    def __init__(self, stage, tautd, start):
        self.stage, self.tautd, self.start = stage, tautd, start
        self.end = start

    def call(self, role, method, path, query="", body=None, **names):
        for name, value in names.items():
            path = path.replace("{" + name + "}", daemon.quoted(str(value)))
        text = json.dumps(body) if isinstance(body, (dict, list)) else body
        return self.tautd.ask(path + ("?" + query if query else ""), method=method, body=text, token=TOKENS[role], timeout=60)

    def write(self, seconds):
        count = seconds // 15
        body = [(labels, [(self.end + t - self.start, v + (self.end - self.start) / 5 if labels["__name__"].endswith("seconds_total") else v)
                          for t, v in values]) for labels, values in samples(self.start, count)]
        answer = daemon.write(self.tautd.port, daemon.write_body(body), TOKENS["writer"])
        self.end += seconds
        return answer.status

    def decided(self):
        return {d["job"]: d["id"] for d in self.call(O, "GET", "/api/v1/decisions").json()["decisions"]}

    def make(self, role, group, **asked):
        return self.call(role, "POST", "/api/v1/requests", body={"group": group, "tier": "production", **asked})


@pytest.fixture(scope="module")
def roles(stage):
    """A daemon with two days of usage of both groups."""
    tautd = stage.tautd(config=config(stage), store=stage.dir / "tautd.db")
    its = Roles(stage, tautd, int(time.time()) // 300 * 300 - 4 * 86400)
    assert its.write(2 * 86400) == 204, "two days of both groups"
    assert daemon.eventually(lambda: {MINE, THEIRS} <= its.decided().keys(), 60), f"both have decisions: {its.decided()}"
    assert daemon.eventually(lambda: its.call(O, "GET", "/api/v1/businesses").json()["businesses"], 30), "the budgets of the file are entered"
    yield its
    assert tautd.stop() == 0, "it stops in order"


@pytest.fixture(scope="module")
def theirs(roles):
    """Returns a decision and a request of the other group."""
    return roles.decided()[THEIRS], roles.make("other", "secretive", cpu=0.5, job="secretive/next").json()["id"]


def test_every_route_is_in_the_table():
    assert routes() - TABLE.keys() == set(), "every route has a row in the table of this test"
    assert TABLE.keys() - routes() == set(), "and every row is a route"


def test_each_role_gets_what_it_may(roles):
    """The table of responses and refusals, for data of the own group."""
    decision = roles.decided()[MINE]
    for (method, path), may in sorted(TABLE.items()):
        for role in ROLES:
            names = {"job": MINE, "file": "nosuch.js", "name": "nosuch"}
            if path == "/api/v1/requests/{id}":
                maker = role if role in (M, OW, O, P) else O
                names["id"] = roles.make(maker, "shop-web", cpu=0.001).json()["id"]
            if path == "/api/v1/decisions/{id}":
                names["id"] = decision
            query = "match=shop*" if (method, path) == ("PATCH", "/api/v1/settings") else QUERIES.get(path, "")
            if method == "POST" and path == "/api/v1/write":
                status = daemon.write(roles.tautd.port, daemon.write_body([]), TOKENS[role]).status
            else:
                answer = roles.call(role, method, path, query, BODIES.get((method, path)), **names)
                status = answer.status
            if role not in may:
                assert status == 403, f"{method} {path} of {role}: refused"
                if role in SEES and path != "/api/v1/write":
                    assert "required" in answer.text and "of shop" in answer.text, f"{method} {path} of {role}: says what is needed"
            else:
                fine = (404,) if path in ("/assets/{file}", "/api/v1/machines/{name}") else (200, 204)
                if path == "/api/v1/clock/confirm":
                    fine = (409,)  # nothing waits for it
                assert status in fine, f"{method} {path} of {role}: answered: {f'{status} {answer.text[:200]}'}"
                if role in SEES and path not in ("/api/v1/openapi.yaml", "/api/v1/events"):
                    found = SECRET.search(answer.text)
                    assert not found, (
                        f"{method} {path} of {role}: nothing of the other group: {answer.text[max(0, found.start() - 80):][:200] if found else ''}")


def test_what_is_of_the_other_group_is_not_there(roles, theirs):
    """Data of the other group seems not to exist; and nothing changes."""
    decision, request = theirs
    told = roles.tautd.output().count("request_refused")
    assert daemon.eventually(lambda: roles.call(M, "GET", "/metrics").status == 403 and roles.tautd.output().count("request_refused") > told, 20, pause=0.5), (
        "refusals are logged again: 100 lines in 10 s are")
    before = [roles.call(O, "GET", path, job=THEIRS).text for path in ("/api/v1/jobs/{job}/settings", f"/api/v1/requests/{request}")]
    for role in SEES:
        for (method, path), may in sorted(TABLE.items()):
            if "{job}" not in path and "{id}" not in path:
                continue
            names = {"job": THEIRS, "id": decision if "decisions" in path else request}
            absent = {"job": THEIRS.replace("hidden", "hidded"), "id": 10 ** 6}
            if path == "/api/v1/requests/{id}":
                absent["id"] = request + 10 ** 6
            got = [roles.call(role, method, path, "", BODIES.get((method, path)), **n) for n in (names, absent)]
            assert [a.status for a in got] == [404 if role in may else 403] * 2, f"{method} {path} of the other group, by {role}"
            bare = [re.sub(r"hidd?e[nd]|\d+", "", a.text) for a in got]
            assert bare[0] == bare[1], f"{method} {path}: as one that is not there: {[a.text for a in got]}"
        for method, path, query, body in (("GET", "/api/v1/admission", "group=secretive&tier=production&cpu=1", None),
                                          ("GET", "/api/v1/admission", "group=pool&tier=production&cpu=1", None),
                                          ("GET", "/api/v1/decisions", "job=" + daemon.quoted(THEIRS), None),
                                          ("GET", "/api/v1/ooms", "job=" + daemon.quoted(THEIRS), None)):
            assert roles.call(role, method, path, query, body).status == 404, f"{method} {path}?{query} by {role}: 404"
        for path, query, key in (("/api/v1/jobs", "search=hidden", "jobs"), ("/api/v1/decisions", "search=hidden", "decisions"),
                                 ("/api/v1/requests", "group=secretive", "requests")):
            assert roles.call(role, "GET", path, query).json()[key] == [], f"{path}?{query} by {role}: nothing"
        wanted = 404 if role != H else 403
        for group in ("secretive", "nobody", "pool"):
            assert roles.make(role, group, cpu=1).status == wanted, f"a request for {group} by {role}: {wanted}"
    for query in ("match=secretive*", "match=*"):
        answer = roles.call(OW, "PATCH", "/api/v1/settings", query, {"mode": "off"})
        assert answer.json()["matched"] == (0 if "secretive" in query else 1), f"PATCH {query} by the owner reaches own jobs only"
    roles.call(OW, "PATCH", "/api/v1/settings", "match=*", {"mode": ""})
    after = [roles.call(O, "GET", path, job=THEIRS).text for path in ("/api/v1/jobs/{job}/settings", f"/api/v1/requests/{request}")]
    assert after == before, "the other group is as it was"
    # A request of one group for a job of the other blocks nobody.
    assert roles.make(M, "shop-web", cpu=0.001, job=THEIRS).status == 200, "a request for a job of that name counts for one's own group"
    assert roles.make("other", "secretive", cpu=0.001, job=THEIRS).status == 200, "and does not keep the other group from its own"


def test_sums_and_money_are_of_the_own_group(roles):
    fleet, mine = (roles.call(role, "GET", "/api/v1/fleet").json() for role in (O, OW))
    assert (fleet["jobs"], mine["jobs"], mine["tasks"]) == (2, 1, 1), "totals of an owner are of the own jobs"
    assert (mine["oom_kills_day"], mine["changes_day"]) == (None, None), "counts of the whole fleet are not told"
    assert abs(mine["memory"]["usage"] - fleet["memory"]["usage"] / 2) < 1, "and half of these two equal ones"
    assert "saving_per_month" in mine and "saving_per_month" not in roles.call(M, "GET", "/api/v1/fleet").json(), "a member sees no money in it"
    bill, whole = (roles.call(role, "GET", "/api/v1/bills").json() for role in (H, O))
    assert [g["group"] for g in bill["groups"]] == ["shop-web"], "a budget holder has the own bill"
    assert 0 < float(bill["total"]) < float(whole["total"]) and "machine_cost" not in bill, "and its sum, not that of the pool"
    assert roles.call(H, "GET", "/api/v1/bills", "group=secretive").status == 404, "the bill of another is not there"
    costs = roles.call(OW, "GET", "/api/v1/costs", "by=:job").json()
    assert [g["value"] for g in costs["groups"]] == [MINE], "costs are of own jobs"
    assert costs["total"]["cost"]["billed"] > 0 and costs["labels"] != [], "in money"
    assert [b["name"] for b in roles.call(H, "GET", "/api/v1/budgets").json()["budgets"]] == ["namespace=shop-web"], "as are budgets"
    rows = roles.call(M, "GET", "/api/v1/quota").json()["rows"]
    assert {r["group"] for r in rows} == {"shop", "shop-web"} & {r["group"] for r in rows}, "quota is of the own group and those below"
    caller = roles.call(H, "GET", "/api/v1/status").json()["caller"]
    assert (caller["user"], caller["role"], caller["groups"]) == ("hans", "group", [{"group": "shop-web", "as": "budget_holder"}, {"group": "business:commerce", "as": "budget_holder"}]), (
        "the status tells who one is")
    assert "see_money" in caller["may"] and "set_jobs" not in caller["may"], "and what one may do"


def test_a_budget_holder_moves_the_own_money_alone(roles):
    """A budget holder sees and moves only the group's own money; only the platform grants more."""
    enter = lambda role, act, of, **more: roles.call(role, "POST", "/api/v1/budget-ledger", body={"act": act, "of": of, "why": "a test", **more})
    page = roles.call(H, "GET", "/api/v1/businesses").json()
    assert ([b["name"] for b in page["businesses"]], [g["name"] for g in page["groups"]]) == (["commerce"], ["shop-web"]), (
        "a budget holder sees the own money")
    assert "spent" not in page and float(page["businesses"][0]["spent"]) > 0, "and not the sums of all"
    owners = roles.call(OW, "GET", "/api/v1/businesses").json()
    assert ([b["name"] for b in owners["businesses"]], [g["name"] for g in owners["groups"]]) == ([], ["shop-web"]), "an owner that of the group"
    before = roles.call(O, "GET", "/api/v1/businesses").json()
    for of, to in (("secretive-inc", "commerce"), ("commerce", "secretive-inc"), ("commerce", "group:secretive"), ("group:secretive", "shop-web")):
        got = [enter(H, "transfer", a, to=b, amount="1") for a, b in ((of, to), (of.replace("secretive", "nosuch"), to.replace("secretive", "nosuch")))]
        assert [a.status for a in got] == [404, 404], f"a transfer from {of} to {to} by a budget holder: as one that is not there"
        assert got[0].text.replace("secretive", "nosuch") == got[1].text, f"{of} to {to}: with the same words"
    assert enter(H, "split", "commerce", amount="1", parts={"shop-web": "50%", "secretive": "50%"}).status == 404, "nor a split to another"
    assert enter(H, "expire", "secretive-inc", amount="all").status == 404, "nor does another's money expire"
    for act, more in (("grant", {"amount": "1"}), ("override", {"amount": "1", "until": 4_000_000_000}), ("freeze", {}), ("unfreeze", {})):
        assert enter(H, act, "commerce", **more).status == 403, f"{act} by a budget holder: refused"
        assert enter(H, act, "secretive-inc", **more).status == 404, f"{act} of another's money by a budget holder: not there"
    for role in (H, OW):
        for holder in ("secretive", "secretive-inc", "business:secretive-inc", "business:nosuch"):
            assert roles.call(role, "GET", "/api/v1/budget-ledger", "holder=" + holder).status == 404, f"the ledger of {holder}: not there for {role}"
    after = roles.call(O, "GET", "/api/v1/businesses").json()
    assert [(b["name"], b["budget"]) for b in after["businesses"]] == [(b["name"], b["budget"]) for b in before["businesses"]], (
        "and nothing has moved")
    assert enter(P, "transfer", "secretive-inc", to="commerce", amount="5").status == 200, "the platform moves money across"
    entry = roles.call(H, "GET", "/api/v1/budget-ledger", "limit=1").json()["entries"][0]
    assert entry["amount"] == "5.00" and entry["who"] == "platform", "the receiver sees the amount and the sender"


def test_focus_rows_are_of_the_own_group(roles):
    """The bill as FOCUS rows: BilledCost adds up to it exactly, and a group sees only its own rows."""
    for role, groups in ((O, {"shop-web", "secretive"}), (H, {"shop-web"}), (OW, {"shop-web"})):
        answer, bill = roles.call(role, "GET", "/api/v1/bills", "format=focus"), roles.call(role, "GET", "/api/v1/bills").json()
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert {r["SubAccountId"] for r in rows} == groups, f"FOCUS rows of {role}: of these groups"
        assert sum(Decimal(r["BilledCost"]) for r in rows) == Decimal(bill["total"]), f"FOCUS rows of {role} add up to the bill"
        assert groups == {"shop-web", "secretive"} or not SECRET.search(answer.text), (
            f"FOCUS rows of {role}: nothing of the other group: {answer.text[:300]}")
    assert answer.headers["content-type"].startswith("text/csv"), "they are CSV"
    assert roles.call(M, "GET", "/api/v1/bills", "format=focus").status == 403, "a member sees no money"
    assert roles.call(H, "GET", "/api/v1/bills", "format=focus&group=secretive").status == 404, "the rows of another are not there"
    assert roles.call(O, "GET", "/api/v1/bills", "format=xml").status == 400, "another format is refused"
    one = roles.call(O, "GET", "/api/v1/bills", "format=focus&group=shop-web").text
    assert {r["SubAccountId"] for r in csv.DictReader(io.StringIO(one))} == {"shop-web"}, "group= narrows them"


def test_who_ends_which_request(roles):
    of_member = roles.make(M, "shop-web", cpu=0.001).json()["id"]
    of_owner = roles.make(OW, "shop-web", cpu=0.001).json()["id"]
    answer = roles.call(M, "DELETE", f"/api/v1/requests/{of_owner}")
    assert answer.status == 403 and "olga" in answer.text, "a member does not end the request of another"
    assert roles.call(H, "DELETE", f"/api/v1/requests/{of_member}").status == 403, "a budget holder ends none"
    assert roles.call(OW, "DELETE", f"/api/v1/requests/{of_member}").json()["end"] == "withdrawn", "an owner ends any of the group"
    own = roles.make(M, "shop-web", cpu=0.001).json()["id"]
    assert roles.call(M, "DELETE", f"/api/v1/requests/{own}", "who=x").json()["who"] == "mia (says x)", "a member ends the own one"


def test_streams_are_of_the_own_group(roles):
    """Each group's stream has decisions, settings and windows of its own jobs only."""
    heard = {}
    open_now = {}
    for role in (M, "other", R):
        connection = http.client.HTTPConnection("127.0.0.1", roles.tautd.port, timeout=1)
        connection.request("GET", "/api/v1/events", headers={"Authorization": "Bearer " + TOKENS[role]})
        open_now[role] = (connection, connection.getresponse())
        heard[role] = b""
    for job in (MINE, THEIRS):
        roles.call(O, "PATCH", "/api/v1/jobs/{job}/settings", body={"mode": "observe"}, job=job)
    roles.write(1800)

    def read():
        for role, (_, response) in open_now.items():
            try:
                heard[role] += response.read1(1 << 16)
            except (TimeoutError, OSError):
                pass
        return all(b"event: window" in text and b"event: setting" in text for text in heard.values())

    assert daemon.eventually(read, 30), f"each stream has a setting and a window: {heard}"
    assert MINE.encode() in heard[M] and not SECRET.search(heard[M].decode()), f"of the own group alone: {heard[M][-400:]}"
    assert b"hidden" in heard["other"] and b"shop-web" not in heard["other"], "the other one of its own"
    assert b"hidden" in heard[R] and MINE.encode() in heard[R], "a reader's of all"
    windows = [json.loads(line[6:]) for line in heard[M].decode().splitlines() if line.startswith("data: ") and '"jobs_by_mode"' in line]
    assert windows and all(w["jobs"] == 1 for w in windows), f"windows sum up own jobs: {windows}"
    for connection, _ in open_now.values():
        connection.close()


def test_taut_says_what_is_needed_and_prints_the_own_group(stage, roles):
    """taut reports the required role, and prints only the own group's data."""
    run = lambda role, *argv: stage.run(stage.args.taut, *argv, "--server", roles.tautd.url, "--token-file",
                                        stage.file(role + ".token", TOKENS[role]))
    listed = run(M, "get", "jobs")
    assert listed.returncode == 0 and "/web " in listed.stdout and "hidden" not in listed.stdout, (
        f"taut get jobs lists own jobs: {listed.stdout + listed.stderr}")
    focus = stage.dir / "bill.csv"
    written, printed = run(H, "get", "bills", "--focus", focus), run(H, "get", "bills", "--focus", "-")
    assert written.returncode == 0 and focus.read_text() == printed.stdout and "shop-web" in printed.stdout and not SECRET.search(printed.stdout), (
        f"taut get bills --focus writes the own rows: {written.stderr + printed.stderr}")
    assert run(M, "get", "bills", "--focus", "-").returncode != 0, "not those of a member"
    refused = run(M, "set", MINE, "mode=off")
    assert refused.returncode != 0 and "owner" in refused.stderr and "member of shop" in refused.stderr, "taut set says who may"


def test_the_log_has_attempts_and_bindings_are_reloaded(stage, roles):
    tautd = roles.tautd
    # 100 refusals in 10 s are logged, and others may have come before.
    attempt = lambda: roles.call(M, "GET", "/api/v1/jobs/{job}", job=THEIRS).status == 404 and re.search("request_refused who=mia.*hidden", tautd.output())  # noqa: E731
    assert daemon.eventually(attempt, 20, pause=0.5), f"an attempt is logged: {tautd.output()[-600:]}"
    roles.call(OW, "PATCH", "/api/v1/jobs/{job}/settings", body={"mode": "observe"}, job=MINE)
    roles.call(M, "DELETE", f"/api/v1/requests/{roles.make(M, 'shop-web', cpu=0.001).json()['id']}")
    said = tautd.output()
    refused = [line for line in said.splitlines() if "request_refused" in line]
    done = [line for line in said.splitlines() if "request_done" in line]
    assert any("who=mia" in l and "member of shop" in l and "hidden" in l and "404" in l for l in refused), (
        f"an attempt on another group is in the log: {refused[:3]}")
    assert any("who=olga" in l and "/settings" in l for l in done) and any("who=mia" in l and "DELETE" in l for l in done), (
        f"as is each change: {done[:3]}")
    assert not any(token in said for token in TOKENS.values()), "no token is"
    groups = stage.dir / "groups"
    text = groups.read_text()
    groups.write_text(text.replace("budget_holder shop-web,business:commerce hans", "owner shopp hans"))
    tautd.popen.send_signal(signal.SIGHUP)
    assert daemon.eventually(lambda: 'group \\"shopp\\"' in tautd.output() and "did you mean" in tautd.output(), 10), (
        f"a group that is not in the quota file is named: {tautd.output()[-600:]}")
    assert roles.call(H, "GET", "/api/v1/bills").status == 200, "and the tokens stay as they were"
    groups.write_text(text.replace("member shop mia", "member secretive mia"))
    tautd.popen.send_signal(signal.SIGHUP)
    assert daemon.eventually(lambda: roles.call(M, "GET", "/api/v1/jobs").json()["jobs"][0]["name"].startswith("secretive"), 10), (
        "a binding is reloaded")


def test_wrong_configurations_say_what_is_wrong(stage):
    kinds = (("0123456789abcdef0123 boss shop anna", "groups:1", "member, owner, budget_holder"), ("0123456789abcdef0123 owner", "groups:1", "no group"),
             ("# x\n0123456789abcdef0123 owner shop", "groups:2", "no name"), ("0123456789abcdef0123 owner shap anna", "shap", 'did you mean "shop"'))
    for line, *wanted in kinds:
        text = f"quota: {{file: {stage.file('quota.yaml', QUOTA)}}}\nserver: {{tokens: {{group_file: {stage.file('groups', line)}}}}}\n"
        ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", text))
        assert ended.returncode == 2 and all(w in ended.stderr for w in wanted) and "0123456789abcdef0123" not in ended.stderr, (
            f"{line.split()[-3:]}: {wanted}: {ended.stderr}")
    text = f"server: {{tokens: {{group_file: {stage.file('groups', '0123456789abcdef0123 owner shop anna')}}}}}\n"
    ended = stage.run(stage.args.tautd, "--check-config", "--config", stage.file("wrong.yaml", text))
    assert ended.returncode == 2 and "quota.file is empty" in ended.stderr, "groups need a quota file"
