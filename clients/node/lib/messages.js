// SPDX-License-Identifier: Apache-2.0
'use strict';
// Messages without I/O: queries and receipts as JSON, verdicts, settlements.

const { STATUS_CODES } = require('node:http');
const { addressOf } = require('./address.js');
const { RefusedError, UnavailableError } = require('./errors.js');

/**
 * @typedef {import('../index.js').Query} Query
 * @typedef {import('../index.js').Verdict} Verdict
 * @typedef {import('../index.js').Settlement} Settlement
 * @typedef {{ status: number, fields: [string, string][], body: string }} Answer
 * @typedef {{ receipt: string | null, receiptEndsMs: number | null, notKept: string[], isUnavailable: boolean }} Receipt
 *   `notKept`: limits charged without a receipt; `isUnavailable`: Weir did not answer
 */

/** Replaces lone surrogates, which UTF-8 cannot encode. @param {string} value */
const text = (value) => JSON.stringify(/[\ud800-\udfff]/.test(value) ? Buffer.from(value).toString() : value);

/** @param {string} value */
function ip(value) {
  const address = addressOf(String(value));
  if (address === undefined) {
    throw new RefusedError(0, `ip: ${JSON.stringify(String(value).slice(0, 60))} is not an IP address`);
  }
  return text(address);
}

/** Seconds with six decimals, the server's resolution. @param {number} ms */
const seconds = (ms) => (ms / 1000).toFixed(6);

/** @param {unknown} value */
const milliseconds = (value) => (typeof value === 'number' ? value * 1000 : null);

/** @param {[string, string | undefined][]} members */
const object = (members) =>
  `{${members.flatMap(([name, value]) => (value === undefined ? [] : [`${text(name)}:${value}`])).join(',')}}`;

/** @template T @param {T | null | undefined} value @param {(value: T) => string} write */
const given = (value, write) => (value === undefined || value === null ? undefined : write(value));

/** @param {NonNullable<Query['headers']>} headers @returns {[string, string][]} */
function pairs(headers) {
  if (Array.isArray(headers)) return headers;
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => /** @type {[string, string]} */ ([name, one])));
}

/**
 * Encodes as JSON. Duplicate headers stay duplicate, so that the server trusts neither. Throws a RefusedError if `ip`
 * is not an address.
 * @param {Query} query
 * @param {{ peek?: boolean, reserve?: boolean, leaseMs?: number | undefined, id?: string | undefined }} [further]
 */
function encodeQuery(query, further = {}) {
  return object([
    ['method', given(query.method, text)],
    ['path', given(query.path, text)],
    ['ip', given(query.ip || undefined, ip)],
    ['user', given(query.user, text)],
    ['api_key', given(query.apiKey, text)],
    ['tier', given(query.tier, text)],
    ['headers', given(query.headers, (headers) => object(pairs(headers).map(([name, value]) => [name, text(value)])))],
    ['cost', given(query.cost, JSON.stringify)],
    ['max_wait', given(query.maxWaitMs, seconds)],
    ['peek', given(further.peek, String)],
    ['reserve', given(further.reserve, String)],
    ['lease', given(further.leaseMs, seconds)],
    ['id', given(further.id, text)],
  ]);
}

/** @param {string} receipt @param {{ actual?: number, leaseMs?: number | undefined }} [further] */
function encodeReceipt(receipt, further = {}) {
  return object([
    ['receipt', text(receipt)],
    ['actual', given(further.actual, JSON.stringify)],
    ['lease', given(further.leaseMs, seconds)],
  ]);
}

/** @param {Answer} answer @returns {Record<string, any>} */
function read(answer) {
  try {
    return Object(JSON.parse(answer.body));
  } catch {
    return {};
  }
}

/** @param {Answer} answer @param {Record<string, any>} said */
function notAResult(answer, said) {
  const detail = said.detail ?? said.reason ?? "unexpected response";
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 408) {
    return new RefusedError(answer.status, `Weir rejected the request (${answer.status}): ${detail}`);
  }
  return new UnavailableError(`Weir returned ${answer.status}: ${detail}`);
}

/** @param {Answer} answer */
function problemOf(answer) {
  const field = answer.fields.find(([name]) => name.toLowerCase() === 'x-weir-problem');
  return field ? Buffer.from(field[1], 'latin1').toString() : problemText(answer.status, 'This request is denied.');
}

/** Throws if the response is not a verdict. @param {Answer} answer @returns {{ verdict: Verdict, receipt: Receipt }} */
function readVerdict(answer) {
  const said = read(answer);
  if (typeof said.admitted !== 'boolean' || !(said.admitted ? [200] : [429, 403]).includes(answer.status)) {
    throw notAResult(answer, said);
  }
  /** @type {Verdict} */
  const verdict = {
    admitted: said.admitted,
    reason: String(said.reason),
    status: answer.status,
    limit: said.limit ?? null,
    quota: said.quota ?? null,
    remaining: said.remaining ?? null,
    retryAfterMs: milliseconds(said.retry_after),
    resetAfterMs: milliseconds(said.reset_after),
    delayMs: milliseconds(said.delay) ?? 0,
    route: said.route ?? null,
    tier: said.tier ?? null,
    missing: said.missing ?? null,
    fields: answer.fields.filter(([name]) => /^(ratelimit|x-ratelimit-|retry-after$)/i.test(name)),
    problem: said.admitted ? '' : problemOf(answer),
  };
  const receipt = {
    receipt: said.receipt ?? null,
    receiptEndsMs: milliseconds(said.receipt_ends),
    notKept: said.not_kept ?? [],
    isUnavailable: false,
  };
  return { verdict, receipt };
}

/** @param {Answer} answer @returns {Settlement} */
function readSettlement(answer) {
  const said = read(answer);
  if (answer.status !== 200 || !Array.isArray(said.limits)) throw notAResult(answer, said);
  const limits = said.limits.map((one) => ({
    limit: one.limit ?? null,
    result: String(one.result),
    quota: one.quota ?? null,
    remaining: one.remaining ?? null,
    resetAfterMs: milliseconds(one.reset_after),
    lost: one.lost ?? 0,
  }));
  return { limits, receiptEndsMs: milliseconds(said.receipt_ends) };
}

/** @param {number} status @param {string} detail */
const problemText = (status, detail) =>
  JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail });

/** @param {string} reason @param {boolean} admitted @param {string} detail @returns {Verdict} */
function verdictWithoutAnswer(reason, admitted, detail) {
  return {
    admitted, reason, status: admitted ? 200 : 429, limit: null, quota: null, remaining: null, retryAfterMs: null,
    resetAfterMs: null, delayMs: 0, route: null, tier: null, missing: null, fields: [],
    problem: admitted ? '' : problemText(429, detail),
  };
}

module.exports = { encodeQuery, encodeReceipt, readVerdict, readSettlement, verdictWithoutAnswer };
