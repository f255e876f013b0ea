#!/usr/bin/env python3
"""Makes the second part of docs/reference/metrics.md: the metrics of the sources that its first part does not explain.

    tools/metrics_reference.py            # fails if the document differs from the sources; check_docs.py runs this, too
    tools/metrics_reference.py --write    # writes it
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "metrics.md"
# Name and help of a metric: arguments of one call, or two consecutive constants.
METRIC = re.compile(r'"(taut(?:d|let)_\w+)"(?:,|;\s*constexpr[^"=;]*=)\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
MARK = "## All other metrics\n"


def page():
    """Returns the document: the text that people wrote above the mark, and below it every metric that it does not name."""
    written = PAGE.read_text().split(MARK)[0]
    rows = {}
    for source in sorted((ROOT / "src").rglob("*.cc")):
        if source.name.endswith(("_test.cc", "_bench.cc")):
            continue
        for name, text in METRIC.findall(source.read_text()):
            if not re.search(rf"\b{name}\b", written):
                meaning = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"').replace("|", "\\|")
                rows[name] = f"| `{name}` | {meaning} |"
    return f"{written}{MARK}\n| metric | meaning |\n|---|---|\n" + "\n".join(rows[name] for name in sorted(rows)) + "\n", set(rows)


def stale():
    """Returns the errors of the document, as a list for check_docs.py."""
    made, _ = page()
    return [] if PAGE.read_text() == made else [f"{PAGE.relative_to(ROOT)} is stale: run tools/metrics_reference.py --write"]


def main():
    if sys.argv[1:] == ["--write"]:
        made, names = page()
        PAGE.write_text(made)
        print(f"{PAGE.relative_to(ROOT)}: {len(names)} metrics")
    elif stale():
        sys.exit("\n".join(stale()))


if __name__ == "__main__":
    main()
