#!/usr/bin/env python3
"""docs/reference/metrics.md, from the calls in src that export metrics.

    tools/metrics_reference.py            # fails if the document is not what the sources say; check_docs.py runs this, too
    tools/metrics_reference.py --write    # writes it
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "metrics.md"
# The name and the help of a metric: arguments of one call, or two constants that follow each other.
METRIC = re.compile(r'"(taut(?:d|let)_\w+)"(?:,|;\s*constexpr[^"=;]*=)\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
HEAD = """# Metrics

For people on call. This page has every metric of tautd's `/metrics`; `tools/metrics_reference.py` makes it from the sources.
[Health](../operate/health.md) says which of them to alert on.

| metric | kind | meaning |
|---|---|---|
"""


def page():
    rows = {}
    for source in sorted((ROOT / "src").rglob("*.cc")):
        if source.name.endswith(("_test.cc", "_bench.cc")):
            continue
        for name, text in METRIC.findall(source.read_text()):
            meaning = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"').replace("|", "\\|")
            kind = "counter" if name.endswith("_total") else "histogram" if name.endswith("_duration_seconds") else "gauge"
            rows[name] = f"| `{name}` | {kind} | {meaning} |"
    return HEAD + "\n".join(rows[name] for name in sorted(rows)) + "\n", set(rows)


def stale():
    """What is wrong with the document, as a list for check_docs.py."""
    made, _ = page()
    return [] if PAGE.exists() and PAGE.read_text() == made else [f"{PAGE.relative_to(ROOT)} is stale: run tools/metrics_reference.py --write"]


def main():
    if sys.argv[1:] == ["--write"]:
        made, names = page()
        PAGE.write_text(made)
        print(f"{PAGE.relative_to(ROOT)}: {len(names)} metrics")
    elif stale():
        sys.exit("\n".join(stale()))


if __name__ == "__main__":
    main()
