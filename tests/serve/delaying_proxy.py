"""A TCP proxy that delays what clients send, for as long as a test wants.

    with DelayingProxy(redis.place) as proxy:       # `proxy.place` is its address
        proxy.delay = 0.1                           # seconds; from now on
"""

import asyncio
import contextlib
import threading
import time

from server import PATIENCE


class DelayingProxy:
    """Delays one direction, so that a round trip takes `delay` longer. Everything stays in order."""

    def __init__(self, target):
        self.delay = 0
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.place = self._server.sockets[0].getsockname()

    def _run(self, task):
        return asyncio.run_coroutine_threadsafe(task, self._loop).result(PATIENCE)

    async def _serve(self, reader, writer):
        with contextlib.closing(writer), contextlib.suppress(OSError, asyncio.CancelledError):
            to_read, to_write = await asyncio.open_connection(*self._target)
            with contextlib.closing(to_write):
                held = asyncio.Queue()
                parts = [self._hold(reader, held), self._release(held, to_write), self._pass(to_read, writer)]
                tasks = [asyncio.ensure_future(part) for part in parts]
                try:
                    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)

    async def _hold(self, reader, held):
        while text := await reader.read(65536):
            held.put_nowait((time.monotonic() + self.delay, text))

    async def _release(self, held, writer):
        while True:
            due, text = await held.get()
            await asyncio.sleep(due - time.monotonic())
            writer.write(text)

    async def _pass(self, reader, writer):
        while text := await reader.read(65536):
            writer.write(text)

    async def _stop(self):
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def close(self):
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
