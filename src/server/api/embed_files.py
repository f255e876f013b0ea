#!/usr/bin/env python3
"""Writes a C++ file that holds openapi.yaml and every file of the built dashboard (none if it was not built).

embed_files.py OUT OPENAPI PAGES
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cmake"))
from embed_bytes import numbers  # pylint: disable=wrong-import-position


def main():
    out, openapi, pages = (pathlib.Path(a) for a in sys.argv[1:])
    files = [("/api/v1/openapi.yaml", openapi)]
    if pages.is_dir():
        files += [("/" + p.relative_to(pages).as_posix(), p) for p in sorted(pages.rglob("*")) if p.is_file()]
    text = ['#include "server/api/embedded_files.h"\n\nnamespace taut::server {\nnamespace {\n']
    rows = []
    for i, (path, file) in enumerate(files):
        data = file.read_bytes()
        text.append(f"constexpr char kFile{i}[] = {{\n    {numbers(data)}}};\n")
        rows.append(f'    {{"{path}", {{kFile{i}, {len(data)}}}}},\n')
    text.append("constexpr EmbeddedFile kFiles[] = {\n" + "".join(rows) + "};\n\n}  // namespace\n\n")
    text.append("std::span<const EmbeddedFile> EmbeddedFiles() { return kFiles; }\n\n}  // namespace taut::server\n")
    out.write_text("\n".join(text))


if __name__ == "__main__":
    main()
