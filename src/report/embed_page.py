#!/usr/bin/env python3
"""Joins web/report/ into one page and writes it as C++ (page_parts.h): embed_page.py OUT.cc TEMPLATE FILE.css... FILE.js...

Styles and scripts go inline; the page's Content-Security-Policy names them by hash, so nothing else can run.
"""
import base64
import hashlib
import pathlib
import sys

CHUNK = 8000  # characters of a string literal; some compilers take no more than 16,380


def sha256(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def join(paths, suffix):
    return "\n" + "".join(pathlib.Path(p).read_text(encoding="utf-8") for p in paths if p.endswith(suffix))


def literal(text):
    chunks = [text[i:i + CHUNK] for i in range(0, len(text), CHUNK)]
    return "\n".join(f'    R"~page~({c})~page~"' for c in chunks)


def main(out, template, *files):
    style = join(files, ".css")
    script = "\n(() => {\n'use strict';" + join(files, ".js") + "})();\n"
    for text, closing in ((style, "</style"), (script, "</script")):
        if closing in text.lower():
            sys.exit(f"embed_page.py: {closing} inside the inlined text would end it")
    policy = (f"default-src 'none'; style-src {sha256(style)}; script-src {sha256(script)}; img-src data:; "
              "base-uri 'none'; form-action 'none'")
    page = pathlib.Path(template).read_text(encoding="utf-8")
    for mark, text in (("{{policy}}", policy), ("{{style}}", style), ("{{script}}", script)):
        if page.count(mark) != 1:
            sys.exit(f"embed_page.py: {template} must hold {mark} once")
        page = page.replace(mark, text)
    head, mark, tail = page.partition("{{data}}")
    if not mark:
        sys.exit(f"embed_page.py: {template} must hold {{{{data}}}}")
    pathlib.Path(out).write_text(
        "// Made from web/report/ by embed_page.py.\n"
        '#include "report/page_parts.h"\n\nnamespace taut {\n\n'
        f"constexpr std::string_view kHead =\n{literal(head)};\n"
        f"constexpr std::string_view kTail =\n{literal(tail)};\n"
        "const std::string_view kPageHead = kHead;\nconst std::string_view kPageTail = kTail;\n\n"
        "}  // namespace taut\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
