"""Sends requests to the HTTP and the admin listener of a server, and validates each response against the document."""

import http.client
import io
import json

from server import PATIENCE

# A path for each template.
SAMPLES = {"/page/{file}": "/page/main.js", "/v1/auth/{path}": "/v1/auth/api/me", "/v1/limits/{name}": "/v1/limits/api",
           "/v1/limits/{name}/consumers/{consumer}": "/v1/limits/api/consumers/user=alice",
           "/v1/limits/{name}/consumers/{consumer}/reset": "/v1/limits/api/consumers/user=alice/reset",
           "/v1/domains/{name}/descriptor": "/v1/domains/shop/descriptor?user=alice",
           "/v1/domains/{name}/descriptor/reset": "/v1/domains/shop/descriptor/reset?user=alice",
           "/v1/overrides/{id}": "/v1/overrides/launch", "/v1/blocks/{id}": "/v1/blocks/scraper"}


class Bytes:
    """A stand-in for a socket, from which http.client reads data that was already received."""

    def __init__(self, text):
        self._text = text

    def makefile(self, _):
        return io.BytesIO(self._text)


class Caller:
    """Sends requests to a server and validates each response against the document."""

    def __init__(self, document, weir):
        self.document, self.weir = document, weir

    @property
    def admin_token(self):
        return {"X-Weir-Token": (self.weir.state_dir / "admin.token").read_text().strip()}

    def __call__(self, status, operation, path=None, body=None, headers=None, listener=None):
        """`operation` is like `GET /v1/limits/{name}`. Returns the parsed body."""
        method, template = operation.split()
        method = method.lower()
        listener = listener or next(each for each in ("http", "admin") if template in self.document.paths(each))
        body = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        connection = http.client.HTTPConnection(*getattr(self.weir, listener), timeout=PATIENCE)
        try:
            connection.request(method.upper(), path or SAMPLES.get(template, template), body, headers or {})
            answer = connection.getresponse()
            return self.hold(status, listener, method, template, answer)
        finally:
            connection.close()

    def hold(self, status, listener, method, template, answer):
        text = answer.read()
        assert answer.status == status, f"{method} {template}: {answer.status} and not {status}: {text[:300]}"
        self.document.check(listener, method, template, answer.status, answer.headers, text)
        kind = answer.headers.get("Content-Type", "")
        return json.loads(text) if text and "json" in kind else text.decode()

    def raw(self, status, listener, method, template, text, connection=None):
        """Returns the response to bytes that no client would send."""
        sent = connection or self.weir.connect(listener)
        with sent:
            try:
                sent.sendall(text)
            except OSError:
                pass  # rejected before all of it was sent
            answer = http.client.HTTPResponse(sent, method=method.upper())
            answer.begin()
            return self.hold(status, listener, method, template, answer)
