#!/usr/bin/env python3
"""Writes the page of the reports as C++ (page_parts.h): embed_page.py OUT.cc PAGE.html

The page is built by npm in web/app and holds {{data}} where the JSON goes. Where it was not built, both parts are empty.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cmake"))
from embed_bytes import numbers  # pylint: disable=wrong-import-position


def parts(path):
    if not path.is_file():
        return b"", b""
    page = path.read_bytes()
    if page.count(b"{{data}}") != 1:
        sys.exit(f"embed_page.py: {path} must hold {{{{data}}}} once")
    head, _, tail = page.partition(b"{{data}}")
    return head, tail


def main(out, page):
    head, tail = parts(pathlib.Path(page))
    pathlib.Path(out).write_text(
        "// Made from the page of web/app by embed_page.py.\n"
        '#include "tools/report/page_parts.h"\n\nnamespace taut::tools {\n\n'
        f"constexpr char kHead[] = {{\n    {numbers(head)}}};\n"
        f"constexpr char kTail[] = {{\n    {numbers(tail)}}};\n"
        f"const std::string_view kPageHead(kHead, {len(head)});\nconst std::string_view kPageTail(kTail, {len(tail)});\n\n"
        "}  // namespace taut::tools\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
