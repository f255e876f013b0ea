"""Bills as Parquet files, read by pyarrow: cell by cell equal to the CSV, with types, from taut get bills and from a tautd."""
import csv
import datetime
import io
import os
import pathlib
import subprocess
import sys
import time
from decimal import Decimal

import pytest

import daemon

HERE = pathlib.Path(__file__).resolve().parent / "focus"
TYPES = {"cost": "decimal128(19, 6)", "time": "timestamp[ms, tz=UTC]", "text": "string"}
DECIMALS = {"BilledCost", "ContractedCost", "EffectiveCost", "ListCost", "ConsumedQuantity", "PricingQuantity", "ContractedUnitPrice", "ListUnitPrice"}
TIMES = {"BillingPeriodEnd", "BillingPeriodStart", "ChargePeriodEnd", "ChargePeriodStart"}
# Text that a spreadsheet would evaluate has an apostrophe before it in the CSV, but not in the Parquet file.
FORMULA = tuple("=+-@\t\r")
PRICES = """currency: "€ \\"internal\\", units"
tiers:
  - {name: "pro,\\"duction\\"\\nzwei – 生产", rule: reservation, prices: [{core_hour: 0.031, gib_hour: 0.0042}, {from: 300s, core_hour: 0.654321, gib_hour: 0.000001}]}
  - {name: "=batch", rule: usage, prices: [{core_hour: 0.011, gib_hour: 0.0015}]}
jobs: [{match: "b*", tier: "=batch"}]
groups: [{match: "*", group: "@group, \\"é\\"\\nb"}]
pool: {cores: 10000000, memory: 1TiB, core_hour: 0.02, gib_hour: 0.003, idle: proportional}
"""
READER = "reader-0123456789abcdef0123456789"
WRITER = "writer-0123456789abcdef0123456789"
LIVE_PRICES = """currency: EUR
tiers: [{name: production, rule: usage, prices: [{core_hour: 3, gib_hour: 1}]}]
pool: {cores: 400, memory: 1TiB, core_hour: 0.02, gib_hour: 0.003, idle: uniform}
"""


def modules(args):
    """Returns the folder with pyarrow: that of TAUT_PARQUET_MODULES, or one beside the binaries that pip fills once."""
    if os.environ.get("TAUT_PARQUET_MODULES"):
        return os.environ["TAUT_PARQUET_MODULES"]
    wanted = (HERE / "requirements.txt").read_text()
    folder = pathlib.Path(args.taut).resolve().parent.parent / f"python-{sys.version_info[0]}.{sys.version_info[1]}-{wanted.strip()}"
    if not folder.exists():
        partial = folder.with_name(f"{folder.name}.{os.getpid()}")
        ended = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", partial,
                                "--only-binary", ":all:", "-r", HERE / "requirements.txt"], capture_output=True, text=True, timeout=500, check=False)
        if ended.returncode != 0:
            pytest.skip(f"pip cannot install {wanted.strip()}: {ended.stderr[-300:]}")
        try:
            partial.rename(folder)
        except OSError:
            if not folder.exists():
                raise
    return str(folder)


@pytest.fixture(scope="module")
def parquet(args):
    sys.path.insert(0, modules(args))
    return pytest.importorskip("pyarrow.parquet")


def kind(column):
    return "cost" if column in DECIMALS else "time" if column in TIMES else "text"


def cell(column, text):
    """Returns the value in the Parquet file for a cell of the CSV."""
    if text == "":
        return None
    if column in DECIMALS:
        return Decimal(text)
    if column in TIMES:
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    return text[1:] if text[0] == "'" and text[1:].startswith(FORMULA) else text


def same(stage, table, csv_text, what):
    """Returns the number of rows, after checking that both files have equal cells."""
    rows = list(csv.reader(io.StringIO(csv_text, newline="")))
    head, rows = rows[0], rows[1:]
    assert table.column_names == head, f"{what}: the columns"
    assert [str(f.type) for f in table.schema] == [TYPES[kind(c)] for c in head], f"{what}: their types"
    assert table.num_rows == len(rows), f"{what}: the number of rows"
    for i, column in enumerate(head):
        got, wanted = table.column(i).to_pylist(), [cell(column, row[i]) for row in rows]
        wrong = next(((n, g, w) for n, (g, w) in enumerate(zip(got, wanted)) if g != w), None)
        assert wrong is None, f"{what}: {column} is the same in each row"
    return len(rows)


def both(stage, parquet, name, write):
    """Writes NAME.csv and NAME.parquet and compares them; the latter as a file."""
    files = stage.dir / f"{name}.csv", stage.dir / f"{name}.parquet"
    for file in files:
        ended = write(file)
        assert ended.returncode == 0, f"{file.name} is written: {ended.stderr}"
    file = parquet.ParquetFile(files[1])
    return file, same(stage, file.read(), files[0].read_bytes().decode(), name)


def test_a_bill_of_a_trace(stage, parquet):
    prices, trace = stage.file("prices.yaml", PRICES), stage.dir / "usage.csv"
    names = ["a,b", 'quo"te', "=SUM(A1)", "müsli/生产/🙂", "b1", "b,2", "-x", "a'b", "'y"] + [f"shop/job-{n}" for n in range(200)]
    with open(trace, "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["time", "job", "task", "cpu_cores", "memory_bytes", "cpu_limit", "memory_limit"])
        for start in (0, 300, 600):
            rows.writerows([start, name, 0, 0.1 + 0.001 * n, 1e9 + 12345 * n, 0.5 + 0.001 * n, 2e9] for n, name in enumerate(names))
    def bill(file, *more):
        return stage.run(stage.args.taut, "get", "bills", trace, "--prices", prices, "-q", "--focus", file, *more)
    file, rows = both(stage, parquet, "trace", bill)
    # Two resources at two prices, and a share of idle cost.
    assert rows == 207 * 5 + 2 * 3, "a row for each line and share"
    table = file.read()
    assert {"a,b", 'quo"te', "=SUM(A1)", "müsli/生产/🙂", "'y"} <= set(table.column("ResourceId").to_pylist()), "names are as they are known"
    assert set(table.column("x_Tier").to_pylist()) == {'pro,"duction"\nzwei – 生产', "=batch", None}, "tiers too, and none of a share of idle cost"
    assert set(table.column("SubAccountId").to_pylist()) == {'@group, "é"\nb'}, "and groups"
    assert table.column("ChargeClass").null_count == rows, "a column that is always empty is null"
    assert table.column("ConsumedQuantity").null_count == 209, "of shares of idle cost there is no quantity"
    assert {file.metadata.row_group(0).column(i).compression for i in range(file.metadata.num_columns)} == {"ZSTD"}, "pages are compressed"
    refused = bill(stage.dir / "bill.parquet.gz")
    assert refused.returncode == 2 and "compressed inside" in refused.stderr, "a second compression is refused"
    kept = (stage.dir / "trace.parquet").read_bytes()
    failed = bill(stage.dir / "trace.parquet", "--recommender", "none", "--job", "nothing", "--what-if", "hours=0.5")
    assert failed.returncode != 0 and (stage.dir / "trace.parquet").read_bytes() == kept, f"a bill that fails leaves the file: {failed.stderr}"
    left = [f.name for f in stage.dir.iterdir() if ".parquet" in f.name and f.name != "trace.parquet"]
    assert not left, "and none beside it"


def test_a_bill_of_many_rows(stage, parquet):
    """A bill with enough rows for several row groups and pages."""
    prices, trace = stage.file("many.yaml", PRICES), stage.dir / "many_usage.csv"
    with open(trace, "w") as out:
        out.write("time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit\n")
        for start in (0, 300):
            out.writelines(f"{start},team-{n % 97}/job-{n},0,{0.001 * (n % 997):.3f},{1000000 + 4096 * n},2,4e9\n" for n in range(20_000))
    def bill(file):
        return stage.run(stage.args.taut, "get", "bills", trace, "--prices", prices, "-q", "--focus", file)
    file, rows = both(stage, parquet, "many", bill)
    assert rows == 100_000, "many rows"
    groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
    assert len(groups) > 1 and sum(g.num_rows for g in groups) == rows, f"in several row groups: {[g.num_rows for g in groups]}"
    sizes = [(stage.dir / name).stat().st_size for name in ("many.csv", "many.parquet")]
    assert sizes[1] < sizes[0] / 10, "in less than a tenth of the CSV's size"


def samples(start, count):
    out = []
    for namespace in ("shop", "media"):
        labels = {"namespace": namespace, "pod": "web-0", "container": "app"}
        for metric, value in (("container_cpu_usage_seconds_total", lambda i: 3.0 * i), ("container_memory_working_set_bytes", lambda i: 1e9)):
            out.append(({"__name__": metric, **labels}, [(start + 15 * i, value(i)) for i in range(count)]))
    return out


def month_of(time_s):
    return time.strftime("%Y-%m", time.gmtime(time_s))


def test_bills_of_a_tautd(stage, parquet):
    tautd = stage.tautd(store=stage.dir / "tautd.db", config=f"""clock: samples
prices: {{file: {stage.file("live.yaml", LIVE_PRICES)}}}
server: {{tokens: {{writer_file: {stage.file("writers", WRITER)}, reader_file: {stage.file("readers", READER)}}}}}
""")
    start = int(time.time()) // 300 * 300 - 7200
    if month_of(start) != month_of(start + 7200):
        start = start // 86400 * 86400 + 86400 - 7200  # ends with the month, so that one bill has all of it
    month = month_of(start)
    answer = daemon.write(tautd.port, daemon.write_body(samples(start, 400)), WRITER)
    assert answer.status == 204, "usage is written"
    path = f"/api/v1/bills?month={month}"
    # All windows but the last have closed, and the bill stays as it is.
    closed = lambda: (lambda bill: bill["number_of_groups"] == 2 and bill["to"] >= start + 6000 - 600)(tautd.ask(path, token=READER).json())
    assert daemon.eventually(closed, 30), f"the usage is billed: {tautd.ask(path, token=READER).text[:300]}"
    token = stage.file("token", READER)
    def bills(file, *more):
        return stage.run(stage.args.taut, "get", "bills", "--month", month, "--server", tautd.url, "--token-file", token, "--focus", file, *more)
    _, rows = both(stage, parquet, "live", bills)
    assert rows >= 4, "two jobs have rows"
    _, of_shop = both(stage, parquet, "shop", lambda file: bills(file, "--group", "shop"))
    assert 0 < of_shop < rows, f"one group has its own: {(of_shop, rows)}"
    answers = [tautd.ask(f"{path}&format={name}", token=READER, headers={"Accept-Encoding": "gzip"}) for name in ("focus-parquet", "parquet")]
    assert (answers[0].status, answers[0].headers.get("content-type"), answers[0].headers.get("content-encoding"), answers[0].body) == (200, "application/vnd.apache.parquet", None, (stage.dir / "live.parquet").read_bytes()), (
        "the API's answer is the file")
    assert answers[1].status == 400 and "expected json, focus or focus-parquet" in answers[1].text, "another format is refused"
    _, rows = both(stage, parquet, "empty", lambda file: stage.run(stage.args.taut, "get", "bills", "--month", "2001-01", "--server", tautd.url,
                                                                    "--token-file", token, "--focus", file))
    assert rows == 0, "an empty bill is a file without rows"
    assert tautd.stop() == 0, "it stops"
