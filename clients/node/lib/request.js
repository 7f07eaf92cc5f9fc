// SPDX-License-Identifier: Apache-2.0
'use strict';
// The parts of a request that the middlewares send, and how they respond.

const { addressOf } = require('./address.js');
const { fieldsOf } = require('./transport.js');

/**
 * @typedef {import('../index.js').Query} Query
 * @typedef {import('../index.js').Verdict} Verdict
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:net').Socket} Socket
 */

const PROBLEM_TYPE = 'application/problem+json';
const MAX_WAIT_MS = 5000;

/** Decodes a header value that Node passed as Latin-1. Invalid UTF-8 is replaced. @param {string} value */
const asUtf8 = (value) => (/[^\x00-\x7f]/.test(value) ? Buffer.from(value, 'latin1').toString() : value);

/** @param {string} target */
const asAscii = (target) =>
  target.replace(/[^\x21-\x7e]/g, (letter) => '%' + letter.charCodeAt(0).toString(16).padStart(2, '0'));

/**
 * The peer address; undefined if the client has already disconnected. The peer of a unix socket is this machine.
 * @param {IncomingMessage} request
 */
function peerOf(request) {
  const { remoteAddress, server } = /** @type {Socket & { server?: import('node:net').Server }} */ (request.socket);
  if (remoteAddress !== undefined) return addressOf(remoteAddress);
  return typeof server?.address() === 'string' ? '127.0.0.1' : undefined;
}

/**
 * @param {IncomingMessage} request
 * @param {string} target
 * @param {Set<string> | undefined} names in lower case; undefined: all
 * @param {number} maxWaitMs
 * @returns {Query}
 */
function queryOf(request, target, names, maxWaitMs) {
  const headers = fieldsOf(request.rawHeaders)
    .filter(([name]) => !names || names.has(name.toLowerCase()))
    .map(([name, value]) => /** @type {[string, string]} */ ([name, asUtf8(value)]));
  return { method: request.method ?? 'GET', path: asAscii(target), ip: peerOf(request), headers, maxWaitMs };
}

/** @param {Iterable<string> | undefined} headers */
const lowerCase = (headers) => headers && new Set([...headers].map((name) => name.toLowerCase()));

/**
 * @param {import('../index.js').Client} client
 * @param {Query} query
 * @param {boolean} reserve
 * @returns {Promise<{ verdict: Verdict, reservation: import('../index.js').Reservation | null }>}
 */
async function evaluate(client, query, reserve) {
  if (!query.ip) {
    const verdict = client.refuse('unknown peer address; set ip in the query function if the server does not provide it');
    return { verdict, reservation: null };
  }
  if (!reserve) return { verdict: await client.check(query), reservation: null };
  try {
    const reservation = await client.reserve(query);
    return { verdict: reservation.verdict, reservation };
  } catch (error) {
    const verdict = /** @type {{ verdict?: Verdict }} */ (error).verdict;
    if (!verdict) throw error;
    return { verdict, reservation: null };
  }
}

/**
 * Settles however the response ends: a client that disconnects is not refunded.
 * @param {import('node:http').ServerResponse} response
 * @param {import('../index.js').Reservation} reservation
 */
function finishWith(response, reservation) {
  const finish = () => void reservation.finish();
  if (response.destroyed) finish(); // the client has disconnected
  else response.once('close', finish);
}

/** @param {number} ms @returns {Promise<void>} */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, Math.ceil(ms)));

module.exports = { MAX_WAIT_MS, PROBLEM_TYPE, finishWith, evaluate, lowerCase, queryOf, sleep };
