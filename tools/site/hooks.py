"""Pages of the site that are not files of docs/: those at the root of the repository, and the API's reference from openapi.yaml."""
import pathlib
import re

import yaml
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
AT_ROOT = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md", "SECURITY.md": "SECURITY.md"}


def moved(text):
    """Returns a page of the root with links relative to docs/."""
    return re.sub(r"\]\(docs/", "](", text).replace("](README.md", "](index.md")


def one_line(text):
    return " ".join(str(text or "").split()).replace("|", "\\|")


def resolved(node, spec):
    """Returns the node that a $ref names, or the node itself."""
    while "$ref" in node:
        name = node["$ref"]
        node = spec
        for key in name.removeprefix("#/").split("/"):
            node = node[key]
    return node


def type_of(schema, spec):
    """Returns a short name of a schema's type, with the schema's name if it has one."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "enum" in schema:
        return ", ".join(str(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}), spec)}"
    return schema.get("type", "any")


def parameters(rows, spec):
    out = ["| parameter | in | type | |", "|---|---|---|---|"]
    for row in (resolved(row, spec) for row in rows):
        need = "required. " if row.get("required") and row["in"] != "path" else ""
        default = row.get("schema", {}).get("default")
        note = f" Default: {default}." if default is not None else ""
        out.append(f"| `{row['name']}` | {row['in']} | {one_line(type_of(row.get('schema', {}), spec))} | {need}{one_line(row.get('description'))}{note} |")
    return out


def operation(path, method, op, common, spec):
    out = [f"### {method.upper()} {path}", "", one_line(op.get("summary")) + ".", ""]
    if op.get("description"):
        out += [op["description"].strip(), ""]
    rows = [*common, *op.get("parameters", [])]
    if rows:
        out += [*parameters(rows, spec), ""]
    for media, content in resolved(op.get("requestBody", {}), spec).get("content", {}).items():
        out += [f"Body: `{media}`, {type_of(content.get('schema', {}), spec)}.", ""]
    answers = []
    for code, answer in op.get("responses", {}).items():
        answer = resolved(answer, spec)
        kinds = {type_of(content.get("schema", {}), spec) for content in answer.get("content", {}).values()}
        answers.append(f"`{code}` {one_line(answer.get('description'))}" + (f" ({', '.join(sorted(kinds))})" if kinds else ""))
    return [*out, "Answers: " + "; ".join(answers) + ".", ""]


def schema(name, node, spec):
    out = [f"### {name}", ""]
    if node.get("description"):
        out += [node["description"].strip(), ""]
    fields = node.get("properties")
    if not fields:
        return [*out, one_line(type_of(node, spec)) + ".", ""]
    out += ["| field | type | |", "|---|---|---|"]
    for field, value in fields.items():
        out.append(f"| `{field}` | {one_line(type_of(value, spec))} | {one_line(value.get('description'))} |")
    return [*out, ""]


def api_page():
    spec = yaml.safe_load((ROOT / "src/server/api/openapi.yaml").read_text())
    out = ["# Paths and fields of the API", "", "For authors of clients. This page is made from `src/server/api/openapi.yaml`. [The API](api.md) says how to call it.", "",
           spec["info"]["description"].strip(), "", "## Paths", ""]
    for path, methods in spec["paths"].items():
        for method, op in methods.items():
            if method in ("get", "post", "put", "patch", "delete"):
                out += operation(path, method, op, methods.get("parameters", []), spec)
    out += ["## Schemas", ""]
    for name, node in spec["components"]["schemas"].items():
        out += schema(name, node, spec)
    return "\n".join(out)


def on_files(files, config):
    for source, name in AT_ROOT.items():
        files.append(File.generated(config, name, content=moved((ROOT / source).read_text())))
    files.append(File.generated(config, "reference/openapi.md", content=api_page()))
    files.append(File.generated(config, "iframe-worker.js", content=(ROOT / "tools/site/iframe-worker.js").read_text()))
    return files
