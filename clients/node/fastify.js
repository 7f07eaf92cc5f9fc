// SPDX-License-Identifier: Apache-2.0
'use strict';
// Plugin for Fastify 4 and 5.

const { Client } = require('./lib/client.js');
const { MAX_WAIT_MS, PROBLEM_TYPE, finishWith, evaluate, lowerCase, queryOf, sleep } = require('./lib/request.js');

/** @type {import('fastify').FastifyPluginAsync<import('./fastify.js').WeirOptions>} */
const plugin = async function weir(fastify, options = {}) {
  const { client = new Client(), query: change, maxWaitMs = MAX_WAIT_MS, reserve = false, hook = 'onRequest' } = options;
  const names = lowerCase(options.headers);
  fastify.decorateRequest('weir', null);
  fastify.addHook(/** @type {'onRequest'} */ (hook), async (request, reply) => {
    const own = queryOf(request.raw, request.raw.url ?? '/', names, maxWaitMs);
    const { verdict, reservation } = await evaluate(client, change ? await change(request, own) : own, reserve);
    for (const [name, value] of verdict.fields) reply.header(name, value);
    if (!verdict.admitted) {
      return reply.code(verdict.status).header('Content-Type', PROBLEM_TYPE).send(Buffer.from(verdict.problem));
    }
    request.weir = { verdict, reservation };
    if (reservation) finishWith(reply.raw, reservation);
    if (verdict.delayMs > 0) await sleep(verdict.delayMs);
    return undefined;
  });
};

// Applies to all routes of the instance that registers it, not only to those that the plugin adds.
Object.assign(plugin, { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'weir' });

module.exports = plugin;
module.exports.default = plugin;
