// What a TypeScript program would write. tests/clients/packages_test.py compiles it but does not run it.
import express from 'express';
import Fastify from 'fastify';
import { type BreakerState, Client, DeniedError, type Query, RefusedError, UnavailableError, type Verdict } from 'weir-client';
import { middleware } from 'weir-client/express';
import weir from 'weir-client/fastify';

export async function asks(): Promise<Verdict> {
  const client = new Client({ url: 'http://127.0.0.1:8080', timeoutMs: 100, fail: 'closed', onError: (error: Error) => void error,
    breakerFailures: 3, breakerIntervalMs: 1000, breakerMaxIntervalMs: 10_000, onBreaker: (state: BreakerState) => void state });
  const isOpen: boolean = client.breakerState === 'open';
  // @ts-expect-error there is no such state
  void (client.breakerState === 'ajar' || isOpen);
  const query: Query = { method: 'POST', path: '/chat', ip: '192.0.2.1', headers: { accept: 'text/plain', cookie: ['a', 'b'] }, cost: 3 };
  const verdict = await client.check({ ...query, headers: [['Accept', 'text/plain']] });
  const left: number | null = verdict.remaining;
  // @ts-expect-error it may be null
  const surely: number = verdict.remaining;
  // @ts-expect-error it is a word for one of two
  new Client({ fail: 'ajar' });
  // @ts-expect-error it is named maxWaitMs
  await client.check({ maxWait: 3 });
  try {
    const text: string = await client.withReservation(query, async (reservation) => {
      await reservation.settle(7);
      return reservation.receipt ?? '';
    });
    const reservation = await client.reserve(query, { leaseMs: 60_000, id: text });
    try {
      await reservation.extend();
      const { limits } = await client.report(query, { id: 'job' });
      return { ...verdict, limit: limits[0]?.limit ?? null, quota: (left ?? 0) + surely };
    } finally {
      await reservation.close();
    }
  } catch (error) {
    if (error instanceof DeniedError) return error.verdict;
    if (error instanceof RefusedError && error.status === 400) throw error;
    if (error instanceof UnavailableError) throw error;
    throw error;
  }
}

const app = express();
app.use(middleware({
  reserve: true,
  query: (request: express.Request, query) => ({ ...query, user: request.get('X-User') }),
}));
app.get('/', async (request, response) => {
  await request.weir?.reservation?.settle(3);
  response.send(request.weir?.verdict.limit);
});

const fastify = Fastify();
void fastify.register(weir, { hook: 'preHandler', headers: ['x-user'], query: async (request, query) => ({ ...query, user: request.id }) });
fastify.get('/', async (request) => request.weir?.verdict.remaining);
// @ts-expect-error there is no such hook
void fastify.register(weir, { hook: 'onClose' });
