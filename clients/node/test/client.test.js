'use strict';
// node --test clients/node/test

const assert = require('node:assert');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const { Worker } = require('node:worker_threads');
const { Client, DeniedError, UnavailableError } = require('../index.js');
const { Breaker } = require('../lib/breaker.js');
const { middleware } = require('../express.js');

const ADMITTED = {
  admitted: true, reason: 'within', limit: 'api', quota: 3, remaining: 2, retry_after: 0, reset_after: 1.5, delay: 0,
  route: 'other', tier: 'default', receipt: 'abc', receipt_ends: 600,
};
const SETTLED = { limits: [{ limit: 'api', result: 'done' }] };

/** A server that answers by the path of what it is sent, and keeps what that was. */
async function fakeWeir(answer = (path) => [200, path === '/v1/check' ? ADMITTED : SETTLED]) {
  const sent = [];
  let connections = 0;
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    sent.push([request.url, body]);
    const [status, said] = await answer(request.url);
    response.writeHead(status, { RateLimit: '"api";r=2' }).end(JSON.stringify(said));
  }).on('connection', () => { connections += 1; });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    sent: (path) => sent.filter(([to]) => to === path).map(([, body]) => JSON.parse(body)),
    connections: () => connections,
  };
}

function newClient(options) {
  const client = new Client({ timeoutMs: 10_000, onError: () => {}, ...options });
  after(() => client.close());
  return client;
}

/** Serves behind the middleware, and gives the answer to one request. */
async function askBehind(client, options, { listen = { port: 0, host: '127.0.0.1' }, target = '/', headers = {} } = {}) {
  const evaluate = middleware({ client, ...options });
  const server = http.createServer((request, response) => {
    evaluate(request, response, (error) => response.writeHead(error ? 500 : 204).end());
  });
  await new Promise((resolve) => server.listen(listen, resolve));
  const place = listen.path ? { socketPath: listen.path } : { port: server.address().port, host: '127.0.0.1' };
  try {
    return await new Promise((resolve, reject) => {
      http.get({ ...place, path: target, headers, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response));
      }).on('error', reject);
    });
  } finally {
    server.close();
  }
}

test('options that make no sense are errors', () => {
  for (const options of [
    { url: '127.0.0.1:8080' }, { url: 'http://x/path' }, { url: 'ftp://x' }, { timeoutMs: 0 }, { timeoutMs: 'soon' },
    { fail: 'ajar' }, { token: 'a\r\nX: y' },
    { breakerFailures: 'few' }, { breakerIntervalMs: 0 }, { breakerMaxIntervalMs: 100 },
  ]) {
    assert.throws(() => new Client(options), TypeError, JSON.stringify(options));
  }
});

/** A breaker on a manual clock, without randomness. */
function newBreaker(options) {
  const clock = { now: 100 };
  const changes = [];
  const breaker = new Breaker({
    failures: 2, intervalMs: 1000, maxIntervalMs: 3000, onChange: (state) => changes.push(state),
    now: () => clock.now, chance: () => 1, ...options,
  });
  const fail = () => assert.rejects(breaker.attempt(() => Promise.reject(new UnavailableError('of the test'))));
  const succeed = () => breaker.attempt(async () => {});
  const nothingIsSent = () => assert.rejects(breaker.attempt(async () => assert.fail('it was sent')), UnavailableError);
  return { breaker, clock, changes, fail, succeed, nothingIsSent };
}

test('a breaker opens after failures in a row', async () => {
  const { breaker, fail, succeed, nothingIsSent } = newBreaker();
  await fail();
  await succeed();
  await fail();
  assert.equal(breaker.state, 'closed');
  await fail();
  assert.equal(breaker.state, 'open');
  await nothingIsSent();
});

test('probes are sent one at a time, at intervals that double', async () => {
  const { breaker, clock, changes, fail, succeed, nothingIsSent } = newBreaker();
  await fail();
  await fail();
  for (const interval of [1000, 2000, 3000, 3000]) {
    clock.now += interval - 1;
    await nothingIsSent();
    clock.now += 1;
    await assert.rejects(breaker.attempt(async () => {
      assert.equal(breaker.state, 'half_open');
      await nothingIsSent();
      throw new UnavailableError('of the test');
    }), /of the test/);
  }
  clock.now += 3000;
  await succeed();
  assert.deepEqual(changes, ['open', ...Array(4).fill(['half_open', 'open']).flat(), 'half_open', 'closed']);
  await fail();
  await fail();
  clock.now += 1000;
  await succeed(); // the first interval again
});

test('jitter takes up to half of the wait for a probe', async () => {
  const { clock, fail, succeed, nothingIsSent } = newBreaker({ failures: 1, chance: () => 0 });
  await fail();
  clock.now += 499;
  await nothingIsSent();
  clock.now += 1;
  await succeed();
});

test('an answer that comes late closes the breaker, and a late failure changes nothing', async () => {
  const { breaker, clock, fail, succeed } = newBreaker();
  const ends = [];
  const late = [0, 1].map(() => breaker.attempt(() => new Promise((resolve, reject) => ends.push({ resolve, reject }))));
  await fail();
  await fail();
  ends[0].reject(new UnavailableError('late'));
  await assert.rejects(late[0], /late/);
  clock.now += 1000;
  await succeed(); // the wait has not doubled
  await fail();
  await fail();
  ends[1].resolve();
  await late[1];
  assert.equal(breaker.state, 'closed');
});

test('concurrent checks have separate connections, which are kept', async () => {
  const weir = await fakeWeir();
  const client = newClient({ url: weir.url, fail: 'closed' });
  for (let i = 0; i < 5; i += 1) {
    const verdicts = await Promise.all(Array.from({ length: 4 }, () => client.check({ path: '/' })));
    for (const verdict of verdicts) assert.equal(verdict.reason, 'within');
  }
  assert.equal(weir.sent('/v1/check').length, 20);
  assert.equal(weir.connections(), 4);
});

test('an answer that came while the program was busy is not too late', async () => {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(`
    const { parentPort, workerData } = require('node:worker_threads');
    const server = require('node:http').createServer((request, response) => {
      request.resume().on('end', () => response.end(workerData.body, () => {
        Atomics.add(workerData.answered, 0, 1);
        Atomics.notify(workerData.answered, 0);
      }));
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
  `, { eval: true, workerData: { body: JSON.stringify(ADMITTED), answered } });
  try {
    const port = await new Promise((resolve) => worker.once('message', resolve));
    const client = newClient({ url: `http://127.0.0.1:${port}`, timeoutMs: 250, fail: 'closed' });
    while ((await client.check({})).reason !== 'within'); // the connection is established
    const before = Atomics.load(answered, 0);
    const checking = client.check({});
    const late = performance.now() + 260;
    await new Promise((resolve) => setImmediate(resolve)); // it is sent
    assert.notEqual(Atomics.wait(answered, 0, before, 10_000), 'timed-out');
    while (performance.now() < late);
    assert.equal((await checking).reason, 'within');
  } finally {
    await worker.terminate();
  }
});

test('a reservation is released at the end of `await using`, unless it was settled', async () => {
  const weir = await fakeWeir();
  const client = newClient({ url: weir.url });
  const dispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');
  const left = await client.reserve({});
  await left[dispose]();
  const settled = await client.reserve({});
  await settled.settle(7);
  await settled[dispose]();
  assert.deepEqual(weir.sent('/v1/release'), [{ receipt: 'abc' }]);
  assert.deepEqual(weir.sent('/v1/settle'), [{ receipt: 'abc', actual: 7 }]);
});

test('a denied reserve is an error with its verdict', async () => {
  const weir = await fakeWeir(() => [429, { admitted: false, reason: 'exceeded', limit: 'api', retry_after: 2.5 }]);
  const client = newClient({ url: weir.url });
  await assert.rejects(client.reserve({}), (error) => {
    assert(error instanceof DeniedError);
    assert.equal(error.verdict.retryAfterMs, 2500);
    return true;
  });
});

test('the default is to warn once while Weir is unavailable', async () => {
  const warnings = [];
  const collect = (warning) => warnings.push(warning);
  process.on('warning', collect);
  const client = newClient({ url: 'http://127.0.0.1:1', onError: undefined });
  for (let i = 0; i < 3; i += 1) assert.equal((await client.check({})).reason, 'weir_unavailable');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', collect);
  assert.deepEqual(warnings.map(({ name }) => name), ['WeirWarning']);
  assert.match(warnings[0].message, /until it answers, requests pass/);
});

test('the query function says who is calling, and chosen headers are sent', async () => {
  const weir = await fakeWeir();
  const query = (request, own) => ({ ...own, user: request.headers['x-left-out'], cost: 2 });
  const answer = await askBehind(newClient({ url: weir.url }), { query, headers: ['X-Kept'], maxWaitMs: 0 },
    { target: '/a%2Fb?c=d', headers: { 'x-kept': ['1', '2'], 'x-left-out': 'ann' } });
  assert.equal(answer.statusCode, 204);
  assert.equal(answer.headers.ratelimit, '"api";r=2');
  const { headers, ...asked } = weir.sent('/v1/check')[0];
  assert.deepEqual(asked, { method: 'GET', path: '/a%2Fb?c=d', ip: '127.0.0.1', user: 'ann', cost: 2, max_wait: 0 });
  assert.deepEqual(Object.keys(headers).map((name) => name.toLowerCase()), ['x-kept']);
});

test('a query function that fails lets nothing pass', async () => {
  const weir = await fakeWeir();
  const query = () => { throw new Error('of the query function'); };
  assert.equal((await askBehind(newClient({ url: weir.url }), { query })).statusCode, 500);
  assert.equal(weir.sent('/v1/check').length, 0);
});

test('the other end of a unix socket is this machine', async () => {
  const weir = await fakeWeir();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-'));
  try {
    const answer = await askBehind(newClient({ url: weir.url }), {}, { listen: { path: path.join(folder, 'socket') } });
    assert.equal(answer.statusCode, 204);
    assert.equal(weir.sent('/v1/check')[0].ip, '127.0.0.1');
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test('what is reserved for a client that has disconnected is settled', async () => {
  let hangUp;
  const hungUp = new Promise((resolve) => { hangUp = resolve; });
  let settled;
  const isSettled = new Promise((resolve) => { settled = resolve; });
  let connection;
  const weir = await fakeWeir(async (path) => {
    if (path !== '/v1/check') settled();
    else connection.destroy();
    await hungUp;
    return [200, path === '/v1/check' ? ADMITTED : SETTLED];
  });
  const evaluate = middleware({ client: newClient({ url: weir.url }), reserve: true });
  const server = http.createServer((request, response) => {
    request.socket.once('close', () => setImmediate(hangUp));
    evaluate(request, response, () => response.end());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  connection = net.connect(server.address().port, '127.0.0.1', () => connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
  await isSettled;
  server.close();
  assert.deepEqual(weir.sent('/v1/settle'), [{ receipt: 'abc', actual: 1 }]);
});

test('an address that the query function leaves empty is a missing one, and one with a port is taken', async () => {
  const weir = await fakeWeir();
  const client = newClient({ url: weir.url });
  for (const ip of ['', undefined, 'foo']) {
    assert.equal((await askBehind(client, { query: (_, own) => ({ ...own, ip }) })).statusCode, 429);
  }
  assert.deepEqual(weir.sent('/v1/check'), []);
  await askBehind(client, { query: (_, own) => ({ ...own, ip: '[2001:db8::1]:51234' }) });
  assert.equal(weir.sent('/v1/check')[0].ip, '2001:db8::1');
});

test('a client that hung up before its address was read is denied', async () => {
  const weir = await fakeWeir();
  const told = [];
  const client = newClient({ url: weir.url, onError: (error) => told.push(error) });
  const request = { method: 'GET', url: '/', rawHeaders: [], socket: { server: { address: () => ({ port: 80 }) } } };
  const response = { setHeader() {}, end: () => response.ended() };
  await new Promise((resolve, reject) => {
    response.ended = resolve;
    middleware({ client })(request, response, () => reject(new Error('it passed')));
  });
  assert.equal(response.statusCode, 429);
  assert.match(told[0].message, /address/);
});
