'use strict';
// apps.js express|fastify SETTINGS: applications behind a middleware, as in apps.py.

const { Client } = require('../../clients/node');

function options({ url, fail, timeout, headers, reserve }) {
  const query = (_, own) => (own.path === '/chat' ? { ...own, cost: 400 } : own);
  return { client: new Client({ url, fail, timeoutMs: timeout * 1000 }), headers, reserve, query };
}

async function settle(request, wanted) {
  if (wanted === 'fail') throw new Error('the handler fails');
  if (wanted) await request.weir.reservation.settle(Number(wanted));
}

function serveExpress(given) {
  const express = require('express');
  const { middleware } = require('../../clients/node/express.js');
  const app = express();
  app.set('env', 'test'); // its errors are not printed
  app.use(middleware(options(given)));
  app.use(async (request, response) => {
    await settle(request, request.get('X-Settle'));
    if (request.path === '/api/own-field') response.set('X-RateLimit-Limit', 'own');
    response.set('X-App', 'hello').type('text').send('hello');
  });
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}

async function serveFastify(given) {
  const app = require('fastify')({ exposeHeadRoutes: true });
  app.register(require('../../clients/node/fastify.js'), options(given));
  app.addContentTypeParser('*', (_, payload, done) => payload.resume().on('end', () => done(null)));
  const hello = async (request, reply) => {
    await settle(request, request.headers['x-settle']);
    if (request.raw.url === '/api/own-field') reply.header('X-RateLimit-Limit', 'own');
    reply.header('X-App', 'hello');
    return 'hello';
  };
  app.after(() => app.all('*', hello));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
}

async function main(kind, settings) {
  const serve = { express: serveExpress, fastify: serveFastify }[kind];
  const ports = {};
  for (const [name, given] of Object.entries(JSON.parse(settings))) ports[name] = await serve(given);
  process.stdout.write(JSON.stringify(ports) + '\n');
  process.stdin.resume().on('end', () => process.exit(0));
}

main(...process.argv.slice(2));
