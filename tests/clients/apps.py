"""apps.py wsgi|flask|starlette SETTINGS: applications behind a middleware, one for each of SETTINGS, on ports of which
it prints the numbers as JSON. They end when standard input does.

An application answers everything with `hello`. /api/own-field sets a field that the middleware sets too; X-Settle
settles what was reserved, or lets the handler fail. apps.js and go/apps.go do the same.
"""

import dataclasses
import json
import os
import pathlib
import socket
import socketserver
import sys
import threading
import wsgiref.simple_server

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "clients/python"))
import weir  # noqa: E402


def options(given):
    """(settings of the client, settings of the middleware)"""
    return ({"url": given["url"], "fail": given["fail"], "timeout": given["timeout"]},
            {"headers": given.get("headers"), "reserve": given.get("reserve", False), "query": with_cost})


def with_cost(_, query):
    return dataclasses.replace(query, cost=400) if query.path == "/chat" else query


def own_fields(path):
    return [("X-App", "hello"), *([("X-RateLimit-Limit", "own")] if path == "/api/own-field" else [])]


def plain(environ, start_response):
    settle = environ.get("HTTP_X_SETTLE")
    if settle == "fail":
        raise RuntimeError("the handler fails")
    if settle:
        environ["weir.reservation"].settle(int(settle))
    start_response("200 OK", [("Content-Type", "text/plain"), *own_fields(environ["PATH_INFO"])])
    return [b"hello"]


class QuietHandler(wsgiref.simple_server.WSGIRequestHandler):
    def get_environ(self):
        for name in [name for name in self.headers if "_" in name]:
            del self.headers[name]
        return super().get_environ()

    def log_message(self, *_):
        pass


class ThreadedServer(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


def serve_wsgi(given):
    of_client, of_middleware = options(given)
    app = weir.WsgiMiddleware(plain, weir.Client(**of_client), drops_underscores=True, **of_middleware)
    server = wsgiref.simple_server.make_server("127.0.0.1", 0, app, ThreadedServer, QuietHandler)
    return server.serve_forever, server.server_port


def serve_flask(given):
    import flask
    import werkzeug.serving

    app = flask.Flask("hello")

    @app.before_request
    def hello():  # for every path and method
        settle = flask.request.headers.get("X-Settle")
        if settle == "fail":
            raise RuntimeError("the handler fails")
        if settle:
            flask.request.environ["weir.reservation"].settle(int(settle))
        return "hello", 200, own_fields(flask.request.path)

    of_client, of_middleware = options(given)
    app.wsgi_app = weir.WsgiMiddleware(app.wsgi_app, weir.Client(**of_client), **of_middleware)

    class Quiet(werkzeug.serving.WSGIRequestHandler):
        def log(self, *_):
            pass

    server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    return server.serve_forever, server.server_port


def serve_starlette(given):
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Mount

    async def hello(scope, receive, send):
        headers = dict(scope["headers"])
        settle = headers.get(b"x-settle")
        if settle == b"fail":
            raise RuntimeError("the handler fails")
        if settle:
            await scope["weir.reservation"].settle(int(settle))
        await PlainTextResponse("hello", headers=dict(own_fields(scope["path"])))(scope, receive, send)

    of_client, of_middleware = options(given)
    app = Starlette(routes=[Mount("/", hello)])
    app.add_middleware(weir.AsgiMiddleware, client=weir.AsyncClient(**of_client), **of_middleware)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", proxy_headers=False)
    return lambda: uvicorn.Server(config).run(sockets=[listening]), listening.getsockname()[1]


def main(kind, settings):
    serve = {"wsgi": serve_wsgi, "flask": serve_flask, "starlette": serve_starlette}[kind]
    ports = {}
    for name, given in json.loads(settings).items():
        run, ports[name] = serve(given)
        threading.Thread(target=run, daemon=True).start()
    print(json.dumps(ports), flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
