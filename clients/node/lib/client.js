'use strict';

const { randomBytes } = require('node:crypto');
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

const ASYNC_DISPOSE = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');

/**
 * Asks Weir. `check` and `reserve` never fail for want of an answer: after `timeoutMs` without one they admit or deny,
 * as `fail` says. What Weir refuses to judge is denied.
 */
class Client {
  #transport;
  #fail;
  #onError;
  #isAway = false;
  #toldOfRefusal = -Infinity;

  /** @param {import('../index.js').ClientOptions} [options] */
  constructor({ url = 'http://127.0.0.1:8080', timeoutMs = 100, fail = 'open', token, tls, onError } = {}) {
    if (fail !== 'open' && fail !== 'closed') throw new TypeError(`fail: ${fail} is neither 'open' nor 'closed'`);
    if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs: ${timeoutMs} is not a number above 0`);
    this.#transport = new Transport({ url, timeoutMs, token, tls });
    this.#fail = fail;
    this.#onError = onError;
  }

  /** @param {Query} query @returns {Promise<Verdict>} */
  async check(query) {
    return (await this.#judge(encodeQuery(query))).verdict;
  }

  /** What a check would say. Charges nothing. @param {Query} query @returns {Promise<Verdict>} */
  async peek(query) {
    return (await this.#judge(encodeQuery(query, { peek: true }))).verdict;
  }

  /** @param {Query} query @param {ReserveOptions} [options] @returns {Promise<Reservation>} */
  async reserve(query, { leaseMs, id = randomBytes(16).toString('hex') } = {}) {
    const { verdict, receipt } = await this.#judge(encodeQuery(query, { reserve: true, leaseMs, id }));
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

  /** Closes the connections that are kept. */
  close() {
    this.#transport.close();
  }

  /** The verdict on a request that cannot be asked about. @param {string} detail @returns {Verdict} */
  refuse(detail) {
    return this.#withoutAnswer(new RefusedError(0, detail));
  }

  /** Of each failure to the callback; without one a warning, but of Weir's being away only when that begins, and of
   * refusals, which clients can cause, once a second. @param {Error} error */
  tell(error) {
    const isRefusal = error instanceof RefusedError;
    if (this.#onError) {
      this.#onError(error);
    } else if (isRefusal) {
      if (performance.now() - this.#toldOfRefusal < 1000) return;
      this.#toldOfRefusal = performance.now();
      process.emitWarning(error.message, 'WeirWarning');
    } else if (!this.#isAway) {
      const then = this.#fail === 'open' ? 'pass' : 'are denied';
      process.emitWarning(`${error.message}; until it answers, requests ${then}`, 'WeirWarning');
    }
    this.#isAway ||= !isRefusal;
  }

  /** @param {string} body @returns {Promise<{ verdict: Verdict, receipt: Receipt }>} */
  async #judge(body) {
    try {
      return readVerdict(await this.#post('/v1/check', body));
    } catch (error) {
      if (!(error instanceof RefusedError || error instanceof UnavailableError)) throw error;
      const verdict = this.#withoutAnswer(error);
      return { verdict, receipt: { receipt: null, receiptEndsMs: null, notKept: [] } };
    }
  }

  /** A refusal is a denial. Only where Weir is away does `fail` count. @param {Failure} error */
  #withoutAnswer(error) {
    this.tell(error);
    if (error instanceof RefusedError) {
      return verdictWithoutAnswer('refused', false, 'This request cannot be judged, and so it is denied.');
    }
    return verdictWithoutAnswer('weir_away', this.#fail === 'open',
      'It cannot be told at present whether this request is within its limits.');
  }

  /** @param {string} path @param {string} body @param {boolean} [mayRepeat] */
  async #post(path, body, mayRepeat = true) {
    const answer = await this.#transport.post(path, body, mayRepeat);
    this.#isAway = false;
    return answer;
  }
}

/** What was taken, until it is settled or released. */
class Reservation {
  #client;
  #reserved;
  #isOver = false;

  /** @param {Client} client @param {Query} query @param {Verdict} verdict @param {Receipt} receipt */
  constructor(client, query, verdict, receipt) {
    this.#client = client;
    this.#reserved = query.cost ?? 1;
    this.verdict = verdict;
    this.receipt = receipt.receipt;
    this.receiptEndsMs = receipt.receiptEndsMs;
    this.notKept = receipt.notKept;
  }

  /** @param {number} actual @returns {Promise<Settlement>} */
  async settle(actual) {
    return this.#end((receipt) => this.#client.settle(receipt, actual));
  }

  /** @returns {Promise<Settlement>} */
  async release() {
    return this.#end((receipt) => this.#client.release(receipt));
  }

  /** @param {number} [leaseMs] @returns {Promise<Settlement>} */
  async extend(leaseMs) {
    return this.receipt === null ? nothingSettled() : this.#client.extend(this.receipt, leaseMs);
  }

  /** Settles what was reserved, unless it was settled or released before. Never fails. */
  async finish() {
    await this.#unlessOver(() => this.settle(this.#reserved));
  }

  /** Releases, unless it was settled or released before. Never fails. */
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
    } catch (error) { // the receipt ends by itself
      this.#isOver = true;
      this.#client.tell(/** @type {Error} */ (error));
    }
  }

  /** @param {(receipt: string) => Promise<Settlement>} ask */
  async #end(ask) {
    const settlement = this.receipt === null ? nothingSettled() : await ask(this.receipt);
    this.#isOver = true;
    return settlement;
  }
}

/** @returns {Settlement} */
const nothingSettled = () => ({ limits: [], receiptEndsMs: null });

module.exports = { Client, Reservation };
