#!/usr/bin/env python3
"""Writes the page of the replay report as C++ (page_parts.h): embed_page.py OUT.cc PAGE.html

The page is built by npm in web/app and holds {{data}} where the JSON goes. Where it was not built, both parts are empty.
"""
import pathlib
import sys

CHUNK = 8000  # characters of a string literal; some compilers take no more than 16,380
DELIMITER = "~page~"


def literal(text):
    chunks = [text[i:i + CHUNK] for i in range(0, len(text), CHUNK)] or [""]
    return "\n".join(f'    R"{DELIMITER}({c}){DELIMITER}"' for c in chunks)


def parts(path):
    if not path.is_file():
        return "", ""
    page = path.read_text(encoding="utf-8")
    if page.count("{{data}}") != 1:
        sys.exit(f"embed_page.py: {path} must hold {{{{data}}}} once")
    if f"){DELIMITER}" in page:
        sys.exit(f"embed_page.py: {path} must not hold ){DELIMITER}, which would end a literal")
    head, _, tail = page.partition("{{data}}")
    return head, tail


def main(out, page):
    head, tail = parts(pathlib.Path(page))
    pathlib.Path(out).write_text(
        "// Made from the page of web/app by embed_page.py.\n"
        '#include "report/page_parts.h"\n\nnamespace taut {\n\n'
        f"constexpr std::string_view kHead =\n{literal(head)};\n"
        f"constexpr std::string_view kTail =\n{literal(tail)};\n"
        "const std::string_view kPageHead = kHead;\nconst std::string_view kPageTail = kTail;\n\n"
        "}  // namespace taut\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
