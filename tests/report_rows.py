#!/usr/bin/env python3
"""Prints the contents of a report's tables, from the page as a browser rendered it."""
import re
import sys


def main():
    page = open(sys.argv[1], encoding="utf-8", errors="replace").read()
    rows = re.findall(r"<tr\b.*?</tr>", page, re.S)
    names = [re.search(r'class="pick".*<svg class="mark (p-[a-z_]+)"', row, re.S) for row in rows]
    known = ("static", "peak", "vpa", "moving_window", "ensemble", "analogs")
    shown = [name for name in known if any(m and m[1] == f"p-{name}" for m in names)]
    print("recommenders:", *shown)
    print("jobs:", len(set(re.findall(r'class="job-name">([^<]*)<', page))))
    print("story of job-00003:", "yes" if re.search(r">[^<]*job-00003[^<]*</h[2-4]>", page) else "no")


if __name__ == "__main__":
    main()
