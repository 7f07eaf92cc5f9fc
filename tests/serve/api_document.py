"""Reads docs/openapi.yaml, to validate responses of a server, and to find what no response has covered yet.

Responses are validated against a closed view of the document: a field that it does not list is an error.
"""

import json
import re
import urllib.parse

import jsonschema_rs
import yaml

PORTS = {"http": ":8080", "admin": ":8089"}
METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")


def closed(node):
    """Returns a copy in which no object may have more than its properties."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    copy = {key: closed(value) for key, value in node.items()}
    is_schema = isinstance(node.get("properties"), dict) and "object" in str(node.get("type"))
    return {"additionalProperties": False, **copy} if is_schema else copy


def escaped(step):
    return step.replace("~", "~0").replace("/", "~1")


class Document:
    def __init__(self, text):
        self.text = text
        self.root = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self._closed = closed(self.root)
        self._validators = {}
        self.shown = set()  # (listener, method, path, status), and pointers to properties

    def paths(self, listener):
        """Returns {path: path item} of a listener."""
        def is_there(item):
            return any(server["url"].endswith(PORTS[listener]) for server in item.get("servers", self.root["servers"]))
        return {path: item for path, item in self.root["paths"].items() if is_there(item)}

    def operations(self, listener):
        """Yields (method, path, operation)."""
        for path, item in self.paths(listener).items():
            for method in METHODS:
                if method in item:
                    yield method, path, item[method]

    def of_listener(self, listener):
        """Returns the document without the paths of the other listener."""
        return {**self.root, "paths": self.paths(listener)}

    def at(self, pointer):
        node = self._closed
        for step in pointer.split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            node = node[int(step)] if isinstance(node, list) else node[step]
        return node

    def followed(self, pointer):
        """Returns the pointer that a chain of references ends at."""
        while isinstance(node := self.at(pointer), dict) and "$ref" in node:
            pointer = node["$ref"].removeprefix("#")
        return pointer

    def fault(self, pointer, value):
        """Returns why the value does not fit the schema; None if it does."""
        if pointer not in self._validators:
            schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#" + urllib.parse.quote(pointer, safe="/~"),
                      "components": self._closed["components"], "paths": self._closed["paths"]}
            self._validators[pointer] = jsonschema_rs.validator_for(schema)
        try:
            self._validators[pointer].validate(value)
        except jsonschema_rs.ValidationError as error:
            return str(error)
        return None

    def check(self, listener, method, path, status, headers, body):
        """Validates a response of the operation; raises if the document does not describe it."""
        where = f"{listener} {method.upper()} {path} {status}"
        operation = f"/paths/{escaped(path)}/{method}"
        if str(status) not in self.at(operation)["responses"]:
            raise AssertionError(f"{where}: the document has no such status; the answer is {body[:300]!r}")
        self.shown.add((listener, method, path, str(status)))
        pointer = self.followed(f"{operation}/responses/{status}")
        response = self.at(pointer)
        self._check_headers(where, response, headers)
        if "content" not in response or method == "head":
            if body:
                raise AssertionError(f"{where}: the document has no body, the answer has {body[:300]!r}")
            return
        kind = headers["Content-Type"].split(";")[0]
        if kind not in response["content"]:
            raise AssertionError(f"{where}: the document does not have the type {kind}: {body[:300]!r}")
        value = body.decode()
        if kind == "application/yaml":
            value = Document(value).root
        elif "json" in kind:
            value = json.loads(body)
        self.check_value(where, f"{pointer}/content/{escaped(kind)}/schema", value)

    def check_value(self, where, pointer, value):
        if fault := self.fault(pointer, value):
            raise AssertionError(f"{where}: {fault}\nin {value}")
        self._show(pointer, value)

    def _check_headers(self, where, response, headers):
        for name, header in response.get("headers", {}).items():
            header = self.at(self.followed(header["$ref"].removeprefix("#"))) if "$ref" in header else header
            if name not in headers:
                if header.get("required"):
                    raise AssertionError(f"{where}: has no {name}")
                continue
            self.shown.add(f"header {name}")
            if header["schema"]["type"] == "integer" and not re.fullmatch(r"\d+", headers[name]):
                raise AssertionError(f"{where}: {name} is {headers[name]!r}")

    def _show(self, pointer, value):
        """Records which properties the value has, wherever they are defined."""
        pointer = self.followed(pointer)
        schema = self.at(pointer)
        if not isinstance(schema, dict):
            return
        for i in range(len(schema.get("anyOf", ()))):
            branch = f"{pointer}/anyOf/{i}"
            if self.fault(branch, value) is None:
                self._show(branch, value)
        if isinstance(value, dict):
            for name, each in value.items():
                if name in schema.get("properties", {}):
                    at = f"{pointer}/properties/{escaped(name)}"
                    self.shown.add(at)
                    self._show(at, each)
                elif isinstance(schema.get("additionalProperties"), dict):
                    self._show(f"{pointer}/additionalProperties", each)
        elif isinstance(value, list) and "items" in schema:
            for each in value:
                self._show(f"{pointer}/items", each)

    def statuses(self):
        return {(listener, method, path, status) for listener in PORTS
                for method, path, operation in self.operations(listener) for status in operation["responses"]}

    def properties(self):
        """Returns the properties of all schemas of responses."""
        found, seen = set(), set()

        def walk(pointer):
            pointer = self.followed(pointer)
            schema = self.at(pointer)
            if pointer in seen or not isinstance(schema, dict):
                return
            seen.add(pointer)
            for i in range(len(schema.get("anyOf", ()))):
                walk(f"{pointer}/anyOf/{i}")
            for name in schema.get("properties", {}):
                at = f"{pointer}/properties/{escaped(name)}"
                found.add(at)
                walk(at)
            for more in "items", "additionalProperties":
                if isinstance(schema.get(more), dict):
                    walk(f"{pointer}/{more}")

        for listener in PORTS:
            for method, path, operation in self.operations(listener):
                for status in operation["responses"]:
                    response = self.followed(f"/paths/{escaped(path)}/{method}/responses/{status}")
                    for kind in self.at(response).get("content", {}):
                        walk(f"{response}/content/{escaped(kind)}/schema")
        walk("/components/schemas/Second")  # the data of the stream's events
        return found

    def examples(self):
        """Returns (the pointer of a schema, an example of it) for all bodies."""
        def walk(pointer, node):
            if isinstance(node, dict):
                if "schema" in node:
                    for example in node.get("examples", {}).values():
                        yield f"{pointer}/schema", example["value"]
                for name, each in node.items():
                    yield from walk(f"{pointer}/{escaped(name)}", each)
        yield from walk("", {name: self.root[name] for name in ("paths", "components")})

    def header_names(self):
        return {f"header {name}" for listener in PORTS for method, path, operation in self.operations(listener)
                for status in operation["responses"]
                for name in self.at(self.followed(f"/paths/{escaped(path)}/{method}/responses/{status}")).get("headers", {})}
