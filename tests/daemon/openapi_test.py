"""Every path and method of src/server/api/openapi.yaml against a tautd with three days of history.

Responses must match the file's schemas, all paths of the router must be in the file, and invalid requests
are refused with the documented status and a sentence.
"""
import http.client
import json
import pathlib
import re
import time

import pytest

import daemon
from schema import Schemas

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TAKES_ANY = {"/api/v1/openapi.yaml"}  # a file
READER = "reader-0123456789abcdef0123456789"
WRITER = "writer-0123456789abcdef0123456789"
OPERATOR = "operator-0123456789abcdef012345678"
PRICES = """currency: EUR
tiers:
  - {name: production, rule: max_request_usage, prices: [{core_hour: 0.03, gib_hour: 0.004}]}
  - {name: batch, rule: usage, prices: [{core_hour: 0.01, gib_hour: 0.001}]}
jobs: [{match: "*cron*", tier: batch}]
pool: {cores: 400, memory: 1TiB, core_hour: 0.02, gib_hour: 0.003, idle: proportional}
"""
QUOTA = """groups:
  - {name: shop, quotas: [{tier: production, resource: cpu, nominal: 1000}, {tier: production, resource: memory, nominal: 900GiB}]}
"""
BUDGETS = """units: [{name: credits, rate: 0.5}]
businesses:
  - {name: retail, budget: 1000, carry_over: 50%, carry_cap: 100}
  - {name: credit-office, budget: 2000, unit: credits}
groups: [{name: shop, shares: {retail: 62.5%, credit-office: 37.5%}}]
"""
# Routes outside the API, for probes, Prometheus and browsers: docs/operate/health.md describes them, openapi.yaml does not.
NOT_API = {"/metrics", "/healthz", "/readyz", "/", "/assets/{file}"}
# Requested by machines_test.py, which has machines.
ELSEWHERE = {("/api/v1/machines/{name}", "GET"), ("/api/v1/clock/confirm", "POST")}


def read_description():
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed (tools/packages.txt)")
    return yaml.safe_load((ROOT / "src" / "server" / "api" / "openapi.yaml").read_text())


class Api:
    """A client of tautd with an operator's token, and the description."""

    def __init__(self, stage, tautd, description):
        self.stage, self.tautd, self.description = stage, tautd, description
        self.schemas = Schemas(description)
        self.seen = set()  # (path of the description, method) with a good answer

    def call(self, path, query="", method="GET", body=None, token=OPERATOR, **names):
        url = path
        for name, value in names.items():
            url = url.replace("{" + name + "}", daemon.quoted(str(value)))
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        return self.tautd.ask(url + ("?" + query if query else ""), method=method, body=body, token=token, timeout=60)

    def taut(self, *argv):
        return self.stage.taut(self.tautd, *argv, "--token-file", self.stage.dir / "operators")

    def fits(self, path, query="", method="GET", body=None, **names):
        """Checks a 200 and its schema; returns the JSON."""
        what = f"{method} {path}" + (f"?{query}" if query else "") + (f" {body}" if body else "")
        answer = self.call(path, query, method, body, **names)
        assert answer.status == 200, (what + ": 200", f"{answer.status} {answer.text}")
        told = self.description["paths"][path][method.lower()]["responses"]["200"]["content"]
        kind, content = next(iter(told.items()))
        assert answer.headers["content-type"].split(";")[0] == kind, what + f": {kind}"
        value = answer.json()
        wrong = self.schemas.errors_of(value, content["schema"])
        assert not wrong, (what + ": has the form that is told", wrong[:5])
        self.seen.add((path, method))
        return value

    def refused(self, status, path, query="", method="GET", body=None, token=OPERATOR, what="", **names):
        """Checks an error's status and that it has a sentence."""
        answer = self.call(path, query, method, body, token, **names)
        text = what or f"{method} {path}" + (f"?{query}" if query else "") + (f" {body}" if body else "")
        text += "" if not names else f" {names}"
        assert answer.status == status, f"{text}: {status}"
        if status == 401:
            assert "Authorization: Bearer" in answer.text, f"{text}: says what is wanted"
        self.declared(path, method, answer)
        self.has_sentence(answer, text)

    def declared(self, path, method, answer):
        """Checks that an operation's response is in its description."""
        operation = self.description["paths"].get(path, {}).get(method.lower())
        if operation is not None:
            assert str(answer.status) in operation["responses"], f"{method} {path}: {answer.status} is declared"

    def has_sentence(self, answer, what):
        wrong = self.schemas.errors_of(answer.json(), {"$ref": "#/components/schemas/Error"})
        assert not wrong and answer.json()["error"], (what + ": says why in {\"error\"}", answer.text)


@pytest.fixture(scope="module")
def api(stage):
    """A daemon with three days of history."""
    description = read_description()
    its = Api(stage, start(stage), description)
    yield its
    assert its.tautd.stop() == 0, "it stops as told"


@pytest.fixture(scope="module")
def names(api):
    """Returns the names of the jobs on the first page."""
    return [j["name"] for j in api.tautd.get("/api/v1/jobs", token=OPERATOR)["jobs"]]


@pytest.fixture(scope="module")
def label(api, names):
    """Returns a label of a job."""
    return next(iter(api.call("/api/v1/jobs/{job}", job=names[0]).json()["labels"]))


def start(stage):
    config = f"""clock: samples
cell: {{name: test cell, links: ["other=https://other.example/"]}}
agents: {{listen: ["127.0.0.1:0"]}}
server:
  tokens:
    reader_file: {stage.file("readers", READER)}
    operator_file: {stage.file("operators.named", OPERATOR + "  anna")}
    writer_file: {stage.file("writers", WRITER + " prometheus")}
quota: {{file: {stage.file("quota.yaml", QUOTA)}}}
budgets: {{file: {stage.file("budgets.yaml", BUDGETS)}}}
prices: {{core_hour: 0.03, gib_hour: 0.004, currency: EUR, budgets: ["all: 5"], file: {stage.file("prices.yaml", PRICES)}}}
rules:
  - {{name: tried, match: {{job: "*e*"}}, set: {{mode: canary, recommender: moving_window, canary.duration: 1h}}}}
  - {{name: applied, match: {{job: "*-*"}}, set: {{mode: auto}}}}
"""
    tautd = stage.tautd(config=config)
    stage.file("operators", OPERATOR)
    stage.feed_history(tautd, "3d", "--jobs", "30", "--ooms", "--token-file", stage.dir / "operators", token=OPERATOR)
    begin = time.time()
    oom = {"namespace": "test", "pod": "oom-0", "container": "app"}
    series = [({"__name__": "container_memory_working_set_bytes", **oom}, [(begin + 15 * i, 1e9) for i in range(60)]),
              ({"__name__": "container_spec_memory_limit_bytes", **oom}, [(begin + 15 * i, 1.5e9) for i in range(60)]),
              ({"__name__": "container_oom_events_total", **oom}, [(begin + 15 * i, i // 20) for i in range(60)])]
    taken = daemon.write(tautd.port, daemon.write_body(series), WRITER)
    assert taken.status == 204, "a job with OOM kills is taken"
    assert daemon.eventually(lambda: tautd.get("/api/v1/ooms", token=OPERATOR)["ooms"], 20), "they are told"
    return tautd


def test_the_description_and_the_router_name_the_same(api):
    """The description and the router list the same routes."""
    room = ROOT / "src" / "server" / "api"
    routed = {row for file in room.glob("*.cc") for row in re.findall(r'routes\.Add\("([A-Z]+)", "(/[^"]*)"', file.read_text())}
    told = {(method.upper(), path) for path, item in api.description["paths"].items() for method in item
            if method != "parameters"}
    assert len(routed) >= 9, "the tables of the routes are found"
    missing = {(m, p) for m, p in routed if p not in NOT_API} - told
    assert missing == set(), "every path of the router is in openapi.yaml"
    assert told - routed == set(), "and every path of openapi.yaml is in the router"
    assert api.schemas.dangling() == [], "each $ref of openapi.yaml leads somewhere"
    assert api.schemas.strange() == [], "no schema of openapi.yaml has words that mean nothing"
    served = api.call("/api/v1/openapi.yaml")
    assert served.body == (ROOT / "src" / "server" / "api" / "openapi.yaml").read_bytes(), "tautd serves this very file"
    api.seen.add(("/api/v1/openapi.yaml", "GET"))


def test_the_fleet_and_its_history(api):
    api.fits("/api/v1/fleet")
    history = api.fits("/api/v1/fleet/history")
    api.fits("/api/v1/fleet/history", "points=1")
    few = api.fits("/api/v1/fleet/history", f"from={history['time'][0]}&to={history['time'][-1]}&points=20")
    assert 0 < len(few["time"]) <= 20, "points=20 are at most 20"
    lengths = {len(few[k]) for k in ("time", "jobs", "tasks", "oom_kills", "changes")}
    lengths |= {len(column) for k in ("cpu", "memory", "jobs_by_mode") for column in few[k].values()}
    assert len(lengths) == 1, "all columns are of one length"


def test_jobs_and_their_sums(api, label):
    page = api.fits("/api/v1/jobs")
    fleet = api.fits("/api/v1/fleet")
    money = sum(price * 730 * (fleet[r]["would_save"] or 0) for r, price in (("cpu", 0.03), ("memory", 0.004 / 2**30)))
    assert abs(fleet["saving_per_month"]["would_save"] - money) < 1e-3 * max(1, abs(money)), (
        f"money a month is price times amount times 730 hours: {(fleet['saving_per_month'], money)}")
    assert (page["currency"], fleet["saving_per_month"]["currency"]) == ("EUR", "EUR"), "in their currency"
    whole_page = api.fits("/api/v1/jobs", "limit=1000")
    noise = [v for j in whole_page["jobs"] for k, v in j["cpu"].items() if v is not None and k != "first_recommendation_at" and len(re.sub(r"e.*|\D", "", repr(v)).lstrip("0")) > 9]
    assert not noise, f"amounts have no digits beyond those of a 32-bit float: {noise[:5]}"
    for sort in api.description["components"]["schemas"]["JobSort"]["enum"]:
        api.fits("/api/v1/jobs", f"sort={sort}&order=asc&limit=5")
    for mode in ("off", "observe", "canary", "auto"):
        found = api.fits("/api/v1/jobs", f"mode={mode}&limit=1000")
        assert all(j["mode"] == mode for j in found["jobs"]), f"mode={mode} are all in {mode}"
    totals = api.fits("/api/v1/jobs", "totals=true&limit=1")["totals"]
    now = max(j["last_seen"] for j in whole_page["jobs"] if j["last_seen"] is not None)  # sums are of the last window
    sums = sum(j["memory"]["owner_limit"] * j["tasks"] for j in whole_page["jobs"] if j["memory"]["owner_limit"] is not None and j["last_seen"] == now)
    assert totals["jobs"] == whole_page["total"] and abs(totals["memory"]["owner_limit"] - sums) <= 1e-6 * sums, (
        f"totals are of all that fit, not of the page: {(totals, sums)}")
    by = api.fits("/api/v1/totals", f"by={label}&limit=1000")
    assert (sum(g["jobs"] for g in by["groups"]) == whole_page["total"] and by["total"] == len(by["groups"])
                    and abs(sum(g["memory"]["owner_limit"] for g in by["groups"]) - sums) <= 1e-6 * sums
                    and abs(sum(g["saving_per_month"] for g in by["groups"]) - totals["saving_per_month"]) <= 1e-3), (
        f"totals by the label {label} add up to those of all jobs: {by}")
    word = daemon.quoted(f"{label}={by['groups'][0]['value']}")
    one = api.fits("/api/v1/totals", f"by={label}&search={word}&limit=1000")
    assert by["groups"][0] in one["groups"], "a search leaves the groups that fit as they are"
    for group in (":class", ":tasks", ":cpu_size", ":memory_size"):
        parts = api.fits("/api/v1/totals", f"by={daemon.quoted(group)}")["groups"]
        assert sum(g["jobs"] for g in parts) == whole_page["total"], f"totals by {group} are of all jobs: {parts}"
    api.refused(404, "/api/v1/totals", "by=nosuch")
    api.refused(400, "/api/v1/totals", "")
    table = api.taut("get", "jobs", "--group-by", label)
    assert by["groups"][0]["value"] in table.stdout and "EUR" in table.stdout and table.returncode == 0, (
        f"taut get jobs --group-by prints them: {(table.stdout, table.stderr)}")
    rest = api.fits("/api/v1/jobs", "offset=2&limit=3&sort=name&order=asc")
    whole = api.fits("/api/v1/jobs", "limit=1000&sort=name&order=asc")
    assert rest["jobs"] == whole["jobs"][2:5], "a page is a part of the whole"
    name = whole["jobs"][0]["name"]
    found = api.fits("/api/v1/jobs", "search=" + daemon.quoted(name))
    assert name in [j["name"] for j in found["jobs"]], "search finds a name"


def test_costs_add_up(api, label):
    costs = api.fits("/api/v1/costs", f"by={label}&limit=1000")
    billed = costs["total"]["cost"]["billed"]
    assert billed > 0 and abs(sum(g["cost"]["billed"] for g in costs["groups"]) - billed) < 1e-6 * billed, (
        f"costs of the groups add up to the total: {costs['total']}")
    assert abs(sum(s["cost"]["billed"] for s in costs["steps"]) - billed) < 1e-6 * billed, (
        f"and so do those of the days: {costs['steps']}")
    cpu, memory = costs["total"]["cpu"], costs["total"]["memory"]
    price = 0.03 * cpu["billed"] + 0.004 * memory["billed"]
    assert abs(price - billed) < 1e-6 * billed and cpu["usage"] <= cpu["billed"] and memory["usage"] <= memory["billed"], (
        f"money is hours times price: {(price, billed)}")
    hours = api.fits("/api/v1/costs", "by=:job&step=hour")
    assert abs(hours["total"]["cost"]["billed"] - billed) < 1e-6 * billed, "by job and hour it is the same money"
    api.refused(400, "/api/v1/costs", "step=minute")
    api.refused(404, "/api/v1/costs", "by=nosuch")


def test_budgets_and_bills_add_up(api):
    budgets = api.fits("/api/v1/budgets")["budgets"]
    assert [b["name"] for b in budgets] == ["all"] and 0 <= budgets[0]["spent"] <= budgets[0]["forecast"], (
        f"the budget of all jobs is spent on: {budgets}")
    bill = api.fits("/api/v1/bills")
    sums = [sum(float(g[key]) for g in bill["groups"]) for key in ("charges", "total")]
    assert (len(bill["groups"]) == bill["number_of_groups"] > 0 and
                    all(abs(sum_ - float(bill[key])) < 1e-5 for sum_, key in zip(sums, ("charges", "total")))), (
        f"the bills of the groups add up: {(sums, bill['charges'], bill['total'])}")
    one = api.fits("/api/v1/bills", "group=" + daemon.quoted(bill["groups"][0]["group"]) + "&limit=5")
    assert 0 < len(one["jobs"]) <= 5 and one["groups"][0] == bill["groups"][0], "as does one alone, with its jobs"
    api.refused(400, "/api/v1/bills", "month=soon")
    api.refused(404, "/api/v1/bills", "group=nobody")


def test_opencost_has_the_same_costs(api, label):
    costs = api.fits("/api/v1/costs", f"by={label}&limit=1000")
    billed = costs["total"]["cost"]["billed"]
    for path in ("/allocation", "/allocation/compute"):
        answer = api.fits(path, f"window={costs['from']},{costs['to']}&aggregate=label:{label}&accumulate=true")
        assert len(answer["data"]) == 1 and abs(sum(a["totalCost"] for a in answer["data"][0].values()) - billed) < 1e-6 * billed, (
            f"{path} has the same costs: {answer}")
        api.fits(path, "window=2d&step=1d&aggregate=namespace")
        api.fits(path, "window=2d&accumulate=true&includeIdle=true&shareIdle=true")
        api.refused(400, path, "window=now")
        api.refused(400, path, "")


def test_each_job_has_its_pages(api, names):
    for name in names:
        for path in ("/api/v1/jobs/{job}", "/api/v1/jobs/{job}/explain", "/api/v1/jobs/{job}/settings"):
            api.fits(path, job=name)
        for resource in ("cpu", "memory"):
            api.fits("/api/v1/jobs/{job}/usage", f"resource={resource}&columns=50", job=name)
    name = names[0]
    api.fits("/api/v1/jobs/{job}/usage", job=name)
    api.fits("/api/v1/jobs/{job}/replicas", job=name)
    api.fits("/api/v1/jobs/{job}/replicas", "from=0&to=3000&columns=5", job=name)
    api.fits("/api/v1/jobs/{job}/usage", "from=0&to=300", job=name)
    for body in ({}, {"recommender": "peak", "peak_days": 1}, {"recommender": "moving_window", "margin_scale": 2},
                 {"recommender": "ensemble", "w_over": 1000, "days": 2}, {"oom_days": 0.1, "lower": None},
                 {"recommender": "static"}, {"recommender": "vpa", "upper": 1e9}):
        api.fits("/api/v1/jobs/{job}/whatif", "resource=memory", "POST", body, job=name)
    api.fits("/api/v1/jobs/{job}/whatif", "resource=cpu", "POST", {"recommender": "analogs"}, job=name)
    for recommender in api.fits("/api/v1/recommenders")["recommenders"]:
        body = {"recommender": recommender["name"]} | {k["key"]: k["initial"] for k in recommender["knobs"]}
        api.fits("/api/v1/jobs/{job}/whatif", "resource=memory", "POST", body, job=name)
    before = api.fits("/api/v1/jobs/{job}/settings", job=name)
    wanted = {"mode": "off", "memory.upper": "4GiB"}
    changed = api.fits("/api/v1/jobs/{job}/settings", "who=bob", "PATCH", wanted, job=name)
    values = {v["key"]: v for v in changed["values"]}
    assert (values["mode"]["value"], values["mode"]["source"]) == ("off", "set by anna (says bob)"), "PATCH sets"
    assert any(c["who"] == "anna (says bob)" and c["key"] == "mode" and c["job"] == name for c in changed["changes"]), (
        f"and is remembered: {changed['changes']}")
    undone = api.fits("/api/v1/jobs/{job}/settings", "", "PATCH", {"mode": "", "memory.upper": ""}, job=name)
    assert undone["values"] == before["values"], "an empty value goes back to what the rules say"


def test_many_jobs_are_changed_by_one_request(api, names):
    """One change of many jobs: previewed, made, then reverted."""
    body, path = {"mode": "off", "memory.upper": "4GiB"}, "/api/v1/settings"

    def modes():
        return sorted((j["name"], j["mode"]) for j in api.fits("/api/v1/jobs", "limit=1000")["jobs"])

    before, match = modes(), daemon.quoted("*" + names[0][1:] + "|" + names[1])
    told = api.fits(path, f"match={match}&dry_run=true", "PATCH", body)
    assert (told["matched"], told["dry_run"], modes()) == (2, True, before), "a dry run changes nothing"
    done = api.fits(path, f"match={match}&who=bob", "PATCH", body)
    assert done["changes"] == told["changes"] and done["changed"] == told["changed"] == 2, f"what was told is what is done: {(told, done)}"
    assert all(("off" == m) == (n in names[:2]) for n, m in modes() if n in names[:2] or (n, m) not in before), "these jobs and no others"
    again = api.fits(path, f"match={match}", "PATCH", body)
    assert (again["changed"], again["changes"]) == (0, []), "a second time nothing is left to change"
    api.fits(path, f"match={match}", "PATCH", {"mode": "", "memory.upper": ""})
    assert modes() == before, "and back"
    for query, wrong in (("", {"mode": "off"}), ("match=*", {}), ("match=*", {"mode": "sideways"}), ("match=none", {"nosuch": "1"}),
                         ("match=*", {"mode": 1}), ("match=*&dry_run=maybe", {"mode": "off"})):
        api.refused(400, path, query, "PATCH", wrong)
    assert modes() == before, "a refused change of many changes none"


def test_an_unknown_job_is_answered_with_near_names(api, names):
    answer = api.call("/api/v1/jobs/{job}", job=names[0][:-1] + "~")
    assert "did you mean" in answer.text, "an unknown job: the nearest name is told"
    for command in (["job", names[0][:-1] + "~"], ["explain", "--job", names[0][:-1] + "~"],
                    ["explain", names[0][:-1] + "~"], ["set", names[0][:-1] + "~", "mode=off"]):
        said = api.taut(*command)
        nearest = said.stderr.partition("did you mean ")[2]
        assert said.returncode == 1 and names[0] in nearest and nearest.count('" or "') == 2, (
            f"taut {command[0]}: an unknown job is answered with the three nearest names: {said.stderr}")


def test_a_part_of_a_name_will_do(api, names):
    # A part of a name is enough if no other job has it; names are not shortened if the output is not a terminal.
    part = next(name[1:] for name in names if sum(name[1:] in other for other in names) == 1)
    for command in (["job", part], ["explain", "--job", part], ["set", part], ["decisions", part], ["decisions", "--job", part]):
        said = api.taut(*command)
        assert said.returncode == 0, f"taut {' '.join(command[:-1])}: a part of the name will do: {said.stderr}"
    said = api.taut("get", "jobs", "--limit", "1000")
    assert all(name in said.stdout for name in names[:1000]), (
        f"taut get jobs: names are whole in a pipe, and options may come first: {said.stdout[:500] + said.stderr}")


def test_decisions_by_kind_job_and_page(api):
    page = api.fits("/api/v1/decisions")
    assert page["decisions"], "there are decisions"
    for kind in api.description["components"]["schemas"]["DecisionKind"]["enum"]:
        found = api.fits("/api/v1/decisions", f"kind={kind}&limit=20")
        assert all(d["kind"] == kind for d in found["decisions"]), f"kind={kind} gives no other"
    one = page["decisions"][0]
    found = api.fits("/api/v1/decisions", f"job={daemon.quoted(one['job'])}&resource={one['resource']}&limit=1000")
    assert (one in found["decisions"] and all(d["job"] == one["job"] and d["resource"] == one["resource"]
                                                      for d in found["decisions"])), "job= and resource= choose"
    for decision in page["decisions"][:20]:
        whole = api.fits("/api/v1/decisions/{id}", id=decision["id"])
        assert {k: whole[k] for k in decision} == decision, "a decision is the same alone as in a list"
    walked, before = [], ""
    while before is not None:
        part = api.fits("/api/v1/decisions", "limit=7" + before)
        walked += [d["id"] for d in part["decisions"]]
        before = f"&before={part['next_before']}" if part["next_before"] is not None else None
    assert walked == list(range(len(walked), 0, -1)), "pages by `before` give each decision once"


def test_kills_settings_and_the_status(api, names):
    api.fits("/api/v1/ooms")
    api.fits("/api/v1/ooms", f"job={daemon.quoted(names[0])}&limit=5")
    api.fits("/api/v1/tier_acts", f"job={daemon.quoted(names[0])}&machine=host1&limit=5")
    api.fits("/api/v1/settings")
    ways = api.fits("/api/v1/login")
    assert ways["login"] is None and ways["token"], "no one signs in here, and a token is needed"
    status = api.fits("/api/v1/status")
    assert status["cell"] == {"name": "test cell", "links": [{"name": "other", "url": "https://other.example/"}]}, "the cell and its links are told"
    agents = api.fits("/api/v1/agents")
    assert (agents["enabled"], agents["agents"], status["agents"]) == (True, [], {"enabled": True, "connected": 0, "known": 0}), (
        "agents may come, none has")


def test_a_change_is_told_as_an_event(api):
    connection = http.client.HTTPConnection("127.0.0.1", api.tautd.port, timeout=20)
    connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {READER}"})
    response = connection.getresponse()
    assert (response.status, response.getheader("Content-Type").split(";")[0]) == (200, "text/event-stream"), "GET /api/v1/events: a stream"
    name = api.tautd.get("/api/v1/jobs", token=OPERATOR)["jobs"][0]["name"]
    api.call("/api/v1/jobs/{job}/settings", "who=eve", "PATCH", {"mode": "off"}, job=name)
    event, data = None, None
    for _ in range(200):
        line = response.readline().decode()
        if line.startswith("event:"):
            event = line[6:].strip()
        if line.startswith("data:") and event == "setting":
            data = json.loads(line[5:])
            break
    connection.close()
    wrong = api.schemas.errors_of(data, {"$ref": "#/components/schemas/SettingChange"})
    assert not wrong and data["who"] == "anna (says eve)", f"a change of a setting is told as an event: {wrong or data}"
    api.seen.add(("/api/v1/events", "GET"))


def test_what_nobody_may_ask_and_what_nobody_can(api, names):
    """Requests that nobody may send, and requests that are impossible."""
    job = names[0]
    for path, item in api.description["paths"].items():
        for method in (m.upper() for m in item if m != "parameters"):
            given = {"job": job} if "{job}" in path else {"id": 1} if "{id}" in path else {}
            body = "{}" if method != "GET" else None
            operation = item[method.lower()]
            assert operation.get("operationId"), f"{method} {path} has an operationId"
            if not path.endswith("/write"):
                api.refused(403, path, "", method, body, WRITER, f"{method} {path} of a writer", **given)
            api.refused(401, path, "", method, body, None, f"{method} {path} without a token", **given)
            if method == "PATCH" or path.endswith("/write"):
                api.refused(403, path, "", method, body, READER, f"{method} {path} of a reader", **given)
            takes = [p for p in item.get("parameters", []) + item.get(method.lower(), {}).get("parameters", [])
                     if api.schemas.resolved(p)["in"] == "query"]
            if method == "GET" and path not in TAKES_ANY:
                api.refused(400, path, "nosuchparameter=1", **given)
            for parameter in map(api.schemas.resolved, takes):
                schema = api.schemas.resolved(parameter["schema"])
                if schema.get("type") == "integer":
                    api.refused(400, path, f"{parameter['name']}=abc", method, body, **given)
                    for bad in [schema[k] + d for k, d in (("minimum", -1), ("maximum", 1)) if k in schema]:
                        api.refused(400, path, f"{parameter['name']}={bad}", method, body, **given)
                elif "enum" in schema:
                    api.refused(400, path, f"{parameter['name']}=nonsense", method, body, **given)
            if "{job}" in path:
                api.refused(404, path, "", method, body, job="no/such job")
            for other in {"DELETE", "PUT"} - {m.upper() for m in api.description["paths"][path]}:
                answer = api.call(path, "", other, "{}", **given)
                assert answer.status in (404, 405), f"{other} {path}: 404 or 405"
                api.has_sentence(answer, f"{other} {path}")
    for path in ("/api/v1/nosuch", "/api/v2/fleet", "/api/v1/jobs/x/y/z", "/api/v1/fleet/", "/nosuch"):
        api.refused(404, path)
    for number in ("999999999", "0", "-1", "1.5", "1e0", "abc"):
        api.refused(404, "/api/v1/decisions/{id}", id=number)
    api.refused(404, "/api/v1/decisions", "job=nosuch")
    api.refused(404, "/api/v1/ooms", "job=nosuch")
    api.refused(404, "/api/v1/tier_acts", "job=nosuch")
    for body in ("", "[]", "{", "null", '{"mode": 1}', '{"mode": "sideways"}', '{"nosuch": "1"}',
                 '{"memory.upper": "-1"}', '{"mode": "auto", "min_change": "many"}'):
        api.refused(400, "/api/v1/jobs/{job}/settings", "", "PATCH", body, job=job)
    for body in ("[]", "{", '{"recommender": "nosuch"}', '{"days": 0}', '{"days": 61}', '{"days": "2"}',
                 '{"nosuch": 1}', '{"oom_days": 0.6}', '{"margin_scale": -1}'):
        api.refused(400, "/api/v1/jobs/{job}/whatif", "", "POST", body, job=job)


def test_businesses_and_the_ledger(api):
    page = api.fits("/api/v1/businesses")
    assert [b["name"] for b in page["businesses"]] == ["credit-office", "retail"] and page["groups"][0]["funders"] != [], (
        f"businesses pay for a group: {page}")
    path = "/api/v1/budget-ledger"
    for body in ({"act": "grant", "of": "retail", "amount": 5, "why": "a test", "key": "k"}, {"act": "grant", "of": "retail", "amount": "5.00", "why": "a test", "key": "k"},
                 {"act": "transfer", "of": "retail", "to": "credit-office", "amount": "2", "why": "a test"}, {"act": "split", "of": "retail", "amount": "1", "parts": {page["groups"][0]["holder"]: "100%"}, "why": "a test"},
                 {"act": "override", "of": "retail", "amount": "2", "until": page["to"], "why": "a test"}, {"act": "freeze", "of": "retail", "why": "a test"},
                 {"act": "unfreeze", "of": "retail", "why": "a test"}, {"act": "expire", "of": "retail", "amount": "0.000001", "why": "a test"}):
        api.fits(path, "", "POST", body)
    entries = api.fits(path, "limit=3")["entries"]
    assert [e["act"] for e in entries] == ["expire", "unfreeze", "freeze"], "the ledger has them, the newest first"
    api.fits(path, "holder=retail&limit=2")
    api.refused(404, path, "holder=nobody")
    api.refused(400, path, "limit=0")
    for body in ({}, {"act": "close", "of": "retail", "why": "x"}, {"act": "grant", "of": "retail", "amount": 1.5, "why": "x"}, {"act": "grant", "of": "retail", "amount": "-1", "why": "x"},
                 {"act": "grant", "of": "retail", "amount": "1"}, {"act": "split", "of": "retail", "amount": "1", "parts": {"credit-office": "90%"}, "why": "x"}):
        api.refused(400, path, "", "POST", body)
    api.refused(404, path, "", "POST", {"act": "grant", "of": "nobody", "amount": "1", "why": "x"})
    api.refused(409, path, "", "POST", {"act": "transfer", "of": "retail", "to": "credit-office", "amount": "100000000", "why": "x"})


def test_a_request_for_quota_from_its_beginning_to_its_end(api):
    """The quota of a group, and a request from start to end."""
    assert api.fits("/api/v1/quota")["rows"], "a group has quota"
    asked = "group=shop&tier=production&cpu=2&memory=4GiB&tasks=3&duration=2h"
    api.fits("/api/v1/admission", asked)
    api.refused(400, "/api/v1/admission", "group=shop&tier=production")
    api.refused(404, "/api/v1/admission", "group=nobody&tier=production&cpu=1")
    made = api.fits("/api/v1/requests", method="POST", body={"group": "shop", "tier": "production", "cpu": 2, "job": "shop/x"})
    api.refused(409, "/api/v1/requests", method="POST", body={"group": "shop", "tier": "production", "cpu": 2, "job": "shop/x"})
    api.refused(400, "/api/v1/requests", method="POST", body="nonsense")
    api.refused(409, "/api/v1/clock/confirm", method="POST")
    api.refused(400, "/api/v1/requests", "state=lost")
    api.fits("/api/v1/requests", "state=admitted&ended=false&group=shop&limit=5")
    api.fits("/api/v1/requests/{id}", id=made["id"])
    api.fits("/api/v1/requests/{id}", method="DELETE", id=made["id"])
    api.refused(409, "/api/v1/requests/{id}", method="DELETE", id=made["id"])
    api.refused(404, "/api/v1/requests/{id}", id=999)


def test_capacity_of_a_stated_pool(api):
    """Capacity of the pool in the price file, none of whose tiers is sold from slack; capacity_test.py has such a tier."""
    page = api.fits("/api/v1/capacity", "resolution=86400")
    offers = {(o["tier"], o["resource"]): o["sellable"] for o in page["offers"]}
    assert page["source"] == "pool" and 390 < offers["production", "cpu"] <= 400, (
        f"capacity is that of the price file, less what the other reserved tier has: {(page['source'], offers)}")
    assert "availability" in page["note"], "and it says that no tier is sold from what others leave"
    api.refused(400, "/api/v1/capacity", "resolution=1")
    api.refused(400, "/api/v1/capacity", "job=a")


def test_machines_before_an_agent_came(api):
    """No agent has connected here; machines_test.py has some."""
    assert api.fits("/api/v1/machines", "search=a&sort=memory_usage&order=asc&limit=5")["enabled"] == True, "agents may come"
    api.refused(400, "/api/v1/machines", "sort=size")
    api.refused(400, "/api/v1/machines", "limit=0")
    api.refused(404, "/api/v1/machines/{name}", name="node-1")


def test_promises_of_days_that_are_over(api):
    """Promises of past days, in the API, on the command line and in the metrics."""
    page = api.fits("/api/v1/promises")
    api.refused(400, "/api/v1/promises", "job=a")
    rows = [row for row in page["rows"] if row["resource"] == "memory"]
    assert rows and all(row["lifetime"]["job_days"] >= row["recent"]["job_days"] > 0 for row in page["rows"]), (
        f"promises of days that are over: {page}")
    sums = [sum(row["lifetime"]["job_days"] for row in page[part]) for part in ("totals", "rows")]
    assert sums[0] == sums[1], "totals are the sums of their rows"
    assert all((row["recent"]["promised"] is None) == (row["promise"] == "none") for row in page["rows"]), f"what is not promised is null: {page}"
    assert {row["limits"] for row in page["rows"]} == {"shown"}, f"a dry run sets no limit: {page}"
    shown = api.taut("get", "promises")
    assert shown.returncode == 0 and "delivered" in shown.stdout and max(map(len, shown.stdout.splitlines())) <= 100, (
        f"taut get promises prints them in 100 columns: {(shown.stdout, shown.stderr)}")
    metrics = api.call("/metrics").text
    days = sum(float(line.split()[1]) for line in metrics.splitlines() if line.startswith("tautd_promise_jobdays{"))
    assert abs(days - sum(row["recent"]["job_days"] for row in page["rows"])) < 1e-3 * days and "tautd_broken_promises 0" in metrics, (
        f"and so do the metrics: {days}")


def test_remote_write_that_is_none_is_refused(api):
    """An invalid remote-write body is refused."""
    good = daemon.write_body([({"__name__": "up", "job": "a"}, [(1, 1.0)])])
    tautd, snappy = api.tautd, {"Content-Encoding": "snappy"}
    kinds = [(204, "a good body", good, snappy), (204, "no series at all", daemon.snappy(b""), snappy),
             (400, "garbage", b"garbage" * 100, snappy), (400, "nothing", b"", snappy),
             (400, "a snappy block of garbage", daemon.snappy(b"\xff" * 100), snappy),
             (400, "half a body", good[:len(good) // 2], snappy), (400, "a body that is not compressed", good, {}),
             (400, "gzip", good, {"Content-Encoding": "gzip"}), (413, "17 MiB", b"\0" * (17 << 20), snappy),
             (413, "64 MiB when decompressed", daemon.varint(64 << 20) + b"\0" * (4 << 20), snappy)]
    for status, what, body, headers in kinds:
        answer = daemon.write(tautd.port, body, OPERATOR, headers)
        assert answer.status == status, f"remote write of {what}: {status}"
        api.declared("/api/v1/write", "POST", answer)
        if status != 204:
            api.has_sentence(answer, what)
    api.seen.add(("/api/v1/write", "POST"))
    assert daemon.answers(tautd.port, "/readyz"), "after all that it is ready"


def test_every_path_and_method_was_asked(api, request):
    if request.config.option.keyword:
        pytest.skip("not all claims were selected")
    told = {(path, m.upper()) for path, item in api.description["paths"].items() for m in item if m != "parameters"}
    assert told - api.seen - ELSEWHERE == set(), "every path and method was asked"
