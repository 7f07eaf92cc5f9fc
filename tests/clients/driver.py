"""driver.py sync|async: executes commands, one JSON object per line of standard input, with a client, and answers each
with a line.

conformance_test.py writes them; driver.js and go/driver.go do the same.
"""

import asyncio
import contextlib
import dataclasses
import functools
import inspect
import json
import pathlib
import ssl
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "clients/python"))
import weir  # noqa: E402


class Driver:
    def __init__(self, kind):
        self.kind = kind
        self.client = None
        self.reservations = {}
        self.errors = []
        self.changes = []  # changes of the breaker's state

    async def run(self, line):
        self.errors.clear()
        try:
            said = await self.do(line)
        except weir.Denied as denied:
            said = {"denied": True, **verdict(denied.verdict)}
        except weir.Refused as refused:
            said = {"error": "refused", "error_status": refused.status}
        except weir.Unavailable:
            said = {"error": "unavailable"}
        return {**said, "errors": list(self.errors)}

    async def do(self, line):
        if "new" in line:
            return await self.open(**line["new"])
        if "check" in line:
            return verdict(await done(self.client.check(query(line["check"]))))
        if "peek" in line:
            return verdict(await done(self.client.peek(query(line["peek"]))))
        if "burst" in line:
            return await self.burst(line)
        if "breaker" in line:
            return {"state": self.client.breaker_state, "changes": list(self.changes)}
        if "reserve" in line:
            return await self.reserve(line)
        if "within" in line:
            return await self.within(line)
        if "report" in line:
            return settlement(await done(self.client.report(query(line["report"]), id=line.get("id"))))
        if "settle" in line:
            return settlement(await done(self.reservations[line["settle"]].settle(line["actual"])))
        if "settle_text" in line:
            return settlement(await done(self.client.settle(line["settle_text"], line["actual"])))
        if "release" in line:
            return settlement(await done(self.reservations[line["release"]].release()))
        return settlement(await done(self.reservations[line["extend"]].extend(line["lease"])))

    async def open(self, url, timeout, fail, token, ca, **breaker):
        if self.client:
            await done(self.client.close())
        tls = ssl.create_default_context(cafile=ca) if ca else None
        self.client = self.kind(url, timeout=timeout, fail=fail, token=token, tls=tls, on_error=self.tell,
                                on_breaker=self.changes.append, **breaker)
        self.changes.clear()
        return {}

    def tell(self, error):
        self.errors.append("refused" if isinstance(error, weir.Refused) else "unavailable")

    async def reserve(self, line):
        made = self.client.reserve(query(line["reserve"]), lease=line.get("lease"), id=line.get("id"))
        if isinstance(made, weir.AsyncReservation):
            await made.__aenter__()
        self.reservations[line["as"]] = made
        return {**verdict(made.verdict), "receipt": made.receipt is not None, "receipt_ends": made.receipt_ends,
                "not_kept": list(made.not_kept)}

    async def burst(self, line):
        """Sends this many checks at a time."""
        check = self.client.check if self.kind is weir.AsyncClient else functools.partial(asyncio.to_thread,
                                                                                          self.client.check)
        verdicts = await asyncio.gather(*(check(query(line["burst"])) for _ in range(line["count"])))
        return {"reasons": sorted({one.reason for one in verdicts})}

    async def within(self, line):
        failure = KeyError("of the work")
        made = self.client.reserve(query(line["within"]))
        stack = contextlib.AsyncExitStack()
        try:
            async with stack:
                if isinstance(made, weir.AsyncReservation):
                    await stack.enter_async_context(made)
                else:
                    stack.enter_context(made)
                if line["then"] == "settle":
                    await done(made.settle(line["actual"]))
                elif line["then"] == "fail":
                    raise failure
        except KeyError as error:
            assert error is failure
            return {**verdict(made.verdict), "failed": True}
        return {**verdict(made.verdict), "failed": False}


async def done(result):
    return await result if inspect.isawaitable(result) else result


def query(written):
    return weir.Query(**{**written, "headers": [tuple(pair) for pair in written.get("headers", ())]})


def verdict(given):
    said = {field.name: getattr(given, field.name) for field in dataclasses.fields(given)}
    return {**said, "fields": {name.lower(): value for name, value in given.fields},
            "problem": json.loads(given.problem) if given.problem else None}


def settlement(given):
    return dataclasses.asdict(given)


async def main(kind):
    driver = Driver(weir.Client if kind == "sync" else weir.AsyncClient)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await driver.run(json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
