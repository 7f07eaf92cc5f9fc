"""A WSGI application behind the middleware that returns the query to Weir: {"asked": [[name, value], ...]}. The client
admits everything. `app` is for servers that need a name.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "clients/python"))
import weir  # noqa: E402


class Client:
    def __init__(self):
        self.refused = []

    def check(self, query):
        said = json.dumps({"asked": sorted(pair for pair in query.headers if pair[0] == "X-User-Id")})
        return weir.Verdict(True, "within", 200, fields=(("X-Asked", said),))

    def refuse(self, detail):
        self.refused.append(detail)
        return weir.Verdict(False, "refused", 429, problem=b"{}")


def hello(environ, start_response):
    start_response("200 OK", [("Content-Length", "0")])
    return []


def guarded(**options):
    client = Client()
    return weir.WsgiMiddleware(hello, client, **options), client


app, _ = guarded()
