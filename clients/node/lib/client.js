// SPDX-License-Identifier: Apache-2.0
'use strict';

const { randomBytes } = require('node:crypto');
const { Breaker } = require('./breaker.js');
const { DeniedError, RefusedError, UnavailableError } = require('./errors.js');
const { encodeQuery, encodeReceipt, readSettlement, readVerdict, verdictWithoutAnswer } = require('./messages.js');
const { Transport } = require('./transport.js');

/**
 * @typedef {import('../index.js').Query} Query
 * @typedef {import('../index.js').Verdict} Verdict
 * @typedef {import('../index.js').Settlement} Settlement
 * @typedef {import('../index.js').ReserveOptions} ReserveOptions
 * @typedef {import('./messages.js').Receipt} Receipt
 * @typedef {InstanceType<typeof RefusedError> | InstanceType<typeof UnavailableError>} Failure
 */

const DEFAULT_TIMEOUT_MS = 250;
const DEFAULT_BREAKER_FAILURES = 5;
const DEFAULT_BREAKER_INTERVAL_MS = 500;
const DEFAULT_BREAKER_MAX_INTERVAL_MS = 5000;

const ASYNC_DISPOSE = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');

const newId = () => randomBytes(16).toString('hex');

/**
 * A client of Weir. `check` and `reserve` do not throw when Weir is unavailable: after `timeoutMs` they admit or deny
 * as `fail` says. After `breakerFailures` consecutive failures they do so at once, until a probe is answered. A request
 * that Weir rejects is denied.
 */
class Client {
  #transport;
  #breaker;
  #fail;
  #onError;
  #isUnavailable = false;
  #refusalLogged = -Infinity;

  /** @param {import('../index.js').ClientOptions} [options] */
  constructor({
    url = 'http://127.0.0.1:8080', timeoutMs = DEFAULT_TIMEOUT_MS, fail = 'open', token, tls, onError,
    breakerFailures = DEFAULT_BREAKER_FAILURES, breakerIntervalMs = DEFAULT_BREAKER_INTERVAL_MS,
    breakerMaxIntervalMs = DEFAULT_BREAKER_MAX_INTERVAL_MS, onBreaker,
  } = {}) {
    if (fail !== 'open' && fail !== 'closed') throw new TypeError(`fail ${fail}: must be 'open' or 'closed'`);
    if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs ${timeoutMs}: must be greater than 0`);
    if (!Number.isInteger(breakerFailures)) throw new TypeError(`breakerFailures ${breakerFailures}: must be an integer`);
    if (!(breakerIntervalMs > 0 && breakerIntervalMs <= breakerMaxIntervalMs)) {
      throw new TypeError('breakerIntervalMs: must be greater than 0 and at most breakerMaxIntervalMs');
    }
    this.#breaker = new Breaker({
      failures: breakerFailures, intervalMs: breakerIntervalMs, maxIntervalMs: breakerMaxIntervalMs,
      onChange: onBreaker,
    });
    this.#transport = new Transport({ url, timeoutMs, token, tls });
    this.#fail = fail;
    this.#onError = onError;
  }

  /** @param {Query} query @returns {Promise<Verdict>} */
  async check(query) {
    return (await this.#evaluate(query)).verdict;
  }

  /** Returns the verdict of a check without charging. @param {Query} query @returns {Promise<Verdict>} */
  async peek(query) {
    return (await this.#evaluate(query, { peek: true })).verdict;
  }

  /** @param {Query} query @param {ReserveOptions} [options] @returns {Promise<Reservation>} */
  async reserve(query, { leaseMs, id = newId() } = {}) {
    const { verdict, receipt } = await this.#evaluate(query, { reserve: true, leaseMs, id });
    if (!verdict.admitted) throw new DeniedError(verdict);
    return new Reservation(this, query, verdict, receipt);
  }

  /** @template T @param {Query} query @param {(reservation: Reservation) => T | Promise<T>} work @returns {Promise<T>} */
  async withReservation(query, work) {
    const reservation = await this.reserve(query);
    try {
      const result = await work(reservation);
      await reservation.finish();
      return result;
    } finally {
      await reservation.close();
    }
  }

  /** @param {string} receipt @param {number} actual @returns {Promise<Settlement>} */
  async settle(receipt, actual) {
    return readSettlement(await this.#post('/v1/settle', encodeReceipt(receipt, { actual })));
  }

  /** @param {string} receipt @returns {Promise<Settlement>} */
  async release(receipt) {
    return readSettlement(await this.#post('/v1/release', encodeReceipt(receipt)));
  }

  /** @param {string} receipt @param {number} [leaseMs] @returns {Promise<Settlement>} */
  async extend(receipt, leaseMs) {
    return readSettlement(await this.#post('/v1/extend', encodeReceipt(receipt, { leaseMs })));
  }

  /** @param {Query} query @param {{ id?: string }} [options] @returns {Promise<Settlement>} */
  async report(query, { id } = {}) {
    return readSettlement(await this.#post('/v1/report', encodeQuery(query, { id }), id !== undefined));
  }

  /** Closes idle connections. */
  close() {
    this.#transport.close();
  }

  get breakerState() {
    return this.#breaker.state;
  }

  /** The verdict on a request that cannot be sent to Weir. @param {string} detail @returns {Verdict} */
  refuse(detail) {
    return this.#withoutAnswer(new RefusedError(0, detail));
  }

  /** Passes each failure to the callback. Without a callback, warns at the start of an outage, and about rejections,
   * which clients can cause, once per second. @param {Error} error */
  tell(error) {
    const isRefusal = error instanceof RefusedError;
    if (this.#onError) {
      this.#onError(error);
    } else if (isRefusal) {
      if (performance.now() - this.#refusalLogged < 1000) return;
      this.#refusalLogged = performance.now();
      process.emitWarning(error.message, 'WeirWarning');
    } else if (!this.#isUnavailable) {
      const then = this.#fail === 'open' ? 'pass' : 'are denied';
      process.emitWarning(`${error.message}; until it answers, requests ${then}`, 'WeirWarning');
    }
    this.#isUnavailable ||= !isRefusal;
  }

  /**
   * @param {Query} query @param {Parameters<typeof encodeQuery>[1]} [further]
   * @returns {Promise<{ verdict: Verdict, receipt: Receipt }>}
   */
  async #evaluate(query, further) {
    try {
      return readVerdict(await this.#post('/v1/check', encodeQuery(query, further)));
    } catch (error) {
      if (!(error instanceof RefusedError || error instanceof UnavailableError)) throw error;
      const verdict = this.#withoutAnswer(error);
      const isUnavailable = error instanceof UnavailableError;
      return { verdict, receipt: { receipt: null, receiptEndsMs: null, notKept: [], isUnavailable } };
    }
  }

  /** A rejected request is denied. `fail` applies only while Weir is unavailable. @param {Failure} error */
  #withoutAnswer(error) {
    this.tell(error);
    if (error instanceof RefusedError) {
      return verdictWithoutAnswer('refused', false, 'This request cannot be evaluated and is denied.');
    }
    return verdictWithoutAnswer('weir_unavailable', this.#fail === 'open',
      'The rate limiter is unavailable; this request is denied.');
  }

  /** @param {string} path @param {string} body @param {boolean} [mayRepeat] */
  async #post(path, body, mayRepeat = true) {
    const request = this.#transport.request(path, body);
    const answer = await this.#breaker.attempt(() => this.#transport.post(request, mayRepeat));
    this.#isUnavailable = false;
    return answer;
  }
}

/** A reserved cost, to be settled or released. */
class Reservation {
  #client;
  #query;
  #reserved;
  #reportId = newId(); // for costs without a receipt
  #isUnavailable; // at the reserve
  #isOver = false;

  /** @param {Client} client @param {Query} query @param {Verdict} verdict @param {Receipt} receipt */
  constructor(client, query, verdict, receipt) {
    this.#client = client;
    this.#query = query;
    this.#reserved = query.cost ?? 1;
    this.#isUnavailable = receipt.isUnavailable;
    this.verdict = verdict;
    this.receipt = receipt.receipt;
    this.receiptEndsMs = receipt.receiptEndsMs;
    this.notKept = receipt.notKept;
  }

  /**
   * Settles at the actual cost. Where there is no receipt, reports the excess over the estimate; if Weir was
   * unavailable at the reserve, reports all of it and passes a failure to `onError`.
   * @param {number} actual @returns {Promise<Settlement>}
   */
  async settle(actual) {
    const settlement = this.#isUnavailable ? await this.#reportWhatWasNotReserved(actual) : await this.#settle(actual);
    this.#isOver = true;
    return settlement;
  }

  /** @returns {Promise<Settlement>} */
  async release() {
    const settlement = this.receipt === null ? nothingSettled() : await this.#client.release(this.receipt);
    this.#isOver = true;
    return settlement;
  }

  /** @param {number} [leaseMs] @returns {Promise<Settlement>} */
  async extend(leaseMs) {
    return this.receipt === null ? nothingSettled() : this.#client.extend(this.receipt, leaseMs);
  }

  /** Settles at the reserved cost, unless settled or released before. Never rejects. */
  async finish() {
    await this.#unlessOver(() => this.settle(this.#reserved));
  }

  /** Releases, unless settled or released before. Never rejects. */
  async close() {
    await this.#unlessOver(() => this.release());
  }

  async [ASYNC_DISPOSE]() {
    await this.close();
  }

  /** @param {() => Promise<Settlement>} ask */
  async #unlessOver(ask) {
    if (this.#isOver) return;
    try {
      await ask();
    } catch (error) { // the receipt expires by itself
      this.#isOver = true;
      this.#client.tell(/** @type {Error} */ (error));
    }
  }

  /** @param {number} actual @returns {Promise<Settlement>} */
  async #settle(actual) {
    const excess = this.notKept.length > 0 ? Math.max(0, actual - this.#reserved) : 0;
    const settled = this.receipt === null ? nothingSettled() : await this.#client.settle(this.receipt, actual - excess);
    if (excess === 0) return settled;
    const reported = await this.#report(excess);
    const kept = settled.limits.filter(({ limit }) => !reported.limits.some((one) => one.limit === limit));
    return { ...reported, limits: [...kept, ...reported.limits] };
  }

  /** @param {number} actual @returns {Promise<Settlement>} */
  async #reportWhatWasNotReserved(actual) {
    try {
      return actual > 0 ? await this.#report(actual) : nothingSettled();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      this.#client.tell(error);
      return nothingSettled();
    }
  }

  /** @param {number} cost */
  #report(cost) {
    return this.#client.report({ ...this.#query, cost, maxWaitMs: undefined }, { id: this.#reportId });
  }
}

/** @returns {Settlement} */
const nothingSettled = () => ({ limits: [], receiptEndsMs: null });

module.exports = { Client, Reservation };
