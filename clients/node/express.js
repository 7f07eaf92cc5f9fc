// SPDX-License-Identifier: Apache-2.0
'use strict';
// Middleware for Express, Connect and other frameworks with (request, response, next).

const { Client } = require('./lib/client.js');
const { MAX_WAIT_MS, PROBLEM_TYPE, finishWith, evaluate, lowerCase, queryOf, sleep } = require('./lib/request.js');

/**
 * @param {import('./express.js').MiddlewareOptions} [options]
 * @returns {import('./express.js').Middleware}
 */
function middleware({ client = new Client(), query: change, headers, maxWaitMs = MAX_WAIT_MS, reserve = false } = {}) {
  const names = lowerCase(headers);

  /** @param {import('./express.js').Request} request @param {import('node:http').ServerResponse} response */
  async function isAdmitted(request, response) {
    const own = queryOf(request, request.originalUrl ?? request.url ?? '/', names, maxWaitMs);
    const { verdict, reservation } = await evaluate(client, change ? await change(request, own) : own, reserve);
    for (const [name, value] of verdict.fields) response.setHeader(name, value);
    if (!verdict.admitted) {
      response.statusCode = verdict.status;
      response.setHeader('Content-Type', PROBLEM_TYPE);
      response.setHeader('Content-Length', Buffer.byteLength(verdict.problem));
      response.end(request.method === 'HEAD' ? undefined : verdict.problem);
      return false;
    }
    request.weir = { verdict, reservation };
    if (reservation) finishWith(response, reservation);
    if (verdict.delayMs > 0) await sleep(verdict.delayMs);
    return true;
  }

  return (request, response, next) => {
    isAdmitted(request, response).then((admitted) => {
      if (admitted) next();
    }, next);
  };
}

module.exports = { middleware };
