#!/usr/bin/env python3
"""Prints the contents of a report of `taut`: page_data.py PAGE [--sections | --titles-of-charts | --cells SECTION]

Without an option it prints one line: the command, the numbers of tables and charts, whether there is an answer, and
whether the page loads anything.
"""
import json
import re
import sys


def data_of(path):
    """Returns the page and its data, which is between the tags of the block."""
    page = open(path, encoding="utf-8").read()
    block = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    if block is None:
        sys.exit(f"{path}: there is no data")
    return page, json.loads(block[1])


def parts(data, kind, section=None):
    return [p for s in data["sections"] if section in (None, s["title"]) for p in s["parts"] if p["is"] == kind]


def main(path, option="", section=None):
    page, data = data_of(path)
    if option == "--sections":
        print(*(s["title"] for s in data["sections"]), sep="\n")
    elif option == "--titles-of-charts":
        print(*(c["title"] for c in parts(data, "chart", section)), sep="\n")
    elif option == "--cells":
        for table in parts(data, "table", section):
            for row in table["rows"]:
                print(*("-" if cell is None else cell for cell in row), sep=" | ")
    else:
        answer = "".join(a if isinstance(a, str) else str(a["value"]) for a in data["answer"])
        loads = bool(re.search(r"<(script|link|img)[^>]*(src|href)=.?https?:", page, re.I))
        print(f"{data['command']}: {len(parts(data, 'table'))} tables, {len(parts(data, 'chart'))} charts,",
              f"{'an' if answer else 'no'} answer, {'loads' if loads else 'loads nothing'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
