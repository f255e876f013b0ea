"""Checks whether a JSON value matches an OpenAPI 3.0 schema: the subset of OpenAPI that openapi.yaml uses.

Properties that are not in the schema are errors too, unless it has additionalProperties: they are not described.
"""

TYPES = {"string": str, "boolean": bool, "array": list, "object": dict}
KNOWN = {"type", "required", "properties", "items", "enum", "nullable", "allOf", "$ref", "additionalProperties",
         "minimum", "maximum", "minItems", "maxItems", "description", "default", "example", "format"}


def is_of(value, kind):
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


class Schemas:
    def __init__(self, description):
        self.description = description

    def resolved(self, schema):
        """Returns the target of a $ref, or the schema itself."""
        while "$ref" in schema:
            node = self.description
            for piece in schema["$ref"].removeprefix("#/").split("/"):
                node = node[piece]
            schema = node
        return schema

    def dangling(self):
        """Returns the $refs without a target."""
        bad, left = [], [self.description]
        while left:
            node = left.pop()
            if isinstance(node, dict):
                if isinstance(node.get("$ref"), str):
                    try:
                        self.resolved(node)
                    except KeyError:
                        bad.append(node["$ref"])
                node = list(node.values())
            if isinstance(node, list):
                left += node
        return bad

    def strange(self):
        """Returns words in schemas and parameters that OpenAPI does not define: text with an unquoted comma."""
        bad, left = [], [("", self.description)]
        while left:
            place, node = left.pop()
            if isinstance(node, dict):
                if "description" in node and node.keys() & {"type", "schema", "$ref", "allOf", "enum"}:
                    bad += [f"{place}: {k}" for k in node.keys() - KNOWN - {"name", "in", "schema", "scheme"}]
                left += [(f"{place}/{k}", v) for k, v in node.items()]
            elif isinstance(node, list):
                left += [(f"{place}/{i}", v) for i, v in enumerate(node)]
        return sorted(bad)

    def merged(self, schema):
        """Returns the schema with all of its allOf merged."""
        schema = self.resolved(schema)
        out = {k: v for k, v in schema.items() if k != "allOf"}
        for part in schema.get("allOf", []):
            part = self.merged(part)
            for key, value in part.items():
                if key == "properties":
                    out[key] = {**value, **out.get(key, {})}
                elif key == "required":
                    out[key] = sorted({*value, *out.get(key, [])})
                else:
                    out.setdefault(key, value)
        return out

    def errors_of(self, value, schema, place="$"):
        """Returns its errors, each with its place; [] if there are none."""
        schema = self.merged(schema)
        unknown = schema.keys() - KNOWN
        if unknown:
            return [f"{place}: this validator does not know {sorted(unknown)}"]
        if value is None and schema.get("nullable"):
            return []
        kind = schema.get("type")
        if kind is not None and not is_of(value, kind):
            return [f"{place}: {value!r} is no {kind}"]
        errors = []
        if "enum" in schema and value not in schema["enum"]:
            errors.append(f"{place}: {value!r} is none of {schema['enum']}")
        for key, beyond in (("minimum", lambda v, m: v < m), ("maximum", lambda v, m: v > m)):
            if key in schema and beyond(value, schema[key]):
                errors.append(f"{place}: {value} is beyond the {key}, {schema[key]}")
        if kind == "array":
            if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
                errors.append(f"{place}: {len(value)} items")
            for i, item in enumerate(value):
                errors += self.errors_of(item, schema["items"], f"{place}[{i}]")
        if kind == "object":
            errors += self.errors_of_object(value, schema, place)
        return errors

    def errors_of_object(self, value, schema, place):
        errors = [f"{place}: no {name}" for name in schema.get("required", []) if name not in value]
        properties, more = schema.get("properties", {}), schema.get("additionalProperties")
        for name, item in value.items():
            if name in properties:
                errors += self.errors_of(item, properties[name], f"{place}.{name}")
            elif isinstance(more, dict):
                errors += self.errors_of(item, more, f"{place}.{name}")
            elif not more:
                errors.append(f"{place}: {name} is not described")
        return errors
