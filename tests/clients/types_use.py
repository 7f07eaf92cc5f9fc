"""What a typed program would write. packages_test.py checks it with mypy but does not run it."""

import dataclasses

import weir
from _typeshed.wsgi import WSGIApplication, WSGIEnvironment
from starlette.applications import Starlette
from starlette.middleware import Middleware
from weir.asgi import Scope


def asks(client: weir.Client) -> float | None:
    query = weir.Query("POST", "/chat", ip="192.0.2.1", headers={"Accept": "text/plain"}, cost=3, max_wait=0.5)
    verdict: weir.Verdict = client.check(query)
    try:
        with client.reserve(query, lease=60, id="job") as reservation:
            settlement: weir.Settlement = reservation.settle(7)
            left: int | None = settlement.limits[0].remaining
            print(left, reservation.receipt_ends)
    except weir.Denied as denied:
        return denied.verdict.retry_after
    return verdict.retry_after


async def asks_in_a_loop() -> bool:
    async with weir.AsyncClient("unix:/run/weir/http.sock", fail="closed", timeout=0.05) as client:
        async with client.reserve(weir.Query(headers=[("Accept", "text/plain")])) as reservation:
            await reservation.extend(30)
        return (await client.peek(weir.Query())).admitted


def by_user(environ: WSGIEnvironment, query: weir.Query) -> weir.Query:
    return dataclasses.replace(query, user=environ.get("REMOTE_USER"))


def by_plan(scope: Scope, query: weir.Query) -> weir.Query:
    return dataclasses.replace(query, tier=str(scope["plan"]))


def evaluated(app: WSGIApplication) -> WSGIApplication:
    return weir.WsgiMiddleware(app, weir.Client(), query=by_user, headers=["accept"], drops_underscores=True)


app = Starlette(middleware=[Middleware(weir.AsgiMiddleware, client=weir.AsyncClient(), reserve=True)])
app.add_middleware(weir.AsgiMiddleware, client=weir.AsyncClient(), query=by_plan)


def tells(state: weir.BreakerState) -> None:
    print(state == "half_open")


weir.Client(breaker_failures=3, breaker_interval=1, breaker_max_interval=10, on_breaker=tells)
is_open: bool = weir.AsyncClient().breaker_state == "open"
weir.Client(fail="ajar")  # type: ignore[arg-type]
weir.Query(max_wait="soon")  # type: ignore[arg-type]
