// SPDX-License-Identifier: Apache-2.0
'use strict';

const { UnavailableError } = require('./errors.js');

/** @typedef {import('../index.js').BreakerState} BreakerState */

/**
 * Stops requests to a server that does not answer.
 *
 * 1. It opens after `failures` consecutive failures: no connection, or no complete response within the timeout. Any
 *    complete response closes it and resets the count.
 * 2. While it is not closed, one request at a time is sent: the probe. It is half open while a probe is in flight.
 * 3. The wait for a probe is random between half and all of `intervalMs`, which doubles with each failed probe, up to
 *    `maxIntervalMs`.
 *
 * If `failures` is 0 or below, the breaker is disabled.
 */
class Breaker {
  #failures;
  #firstIntervalMs;
  #maxIntervalMs;
  #onChange;
  #now;
  #chance;
  /** @type {BreakerState} */
  #state = 'closed';
  #inARow = 0;
  #intervalMs;
  #probeAt = 0;

  /**
   * @param {{ failures: number, intervalMs: number, maxIntervalMs: number,
   *   onChange?: ((state: BreakerState) => void) | undefined, now?: () => number, chance?: () => number }} options
   */
  constructor({ failures, intervalMs, maxIntervalMs, onChange, now = () => performance.now(), chance = Math.random }) {
    this.#failures = failures;
    this.#firstIntervalMs = intervalMs;
    this.#maxIntervalMs = maxIntervalMs;
    this.#onChange = onChange;
    this.#now = now;
    this.#chance = chance;
    this.#intervalMs = intervalMs;
  }

  get state() {
    return this.#state;
  }

  /** Throws if nothing may be sent. @template T @param {() => Promise<T>} send @returns {Promise<T>} */
  async attempt(send) {
    const isProbe = this.#begin();
    let answer;
    try {
      answer = await send();
    } catch (error) {
      this.#failed(isProbe);
      throw error;
    }
    this.#succeeded();
    return answer;
  }

  /** Returns whether the request is a probe. */
  #begin() {
    if (this.#state === 'closed') return false;
    if (this.#state === 'half_open') throw new UnavailableError('Weir is unavailable: a probe is in flight');
    const wait = this.#probeAt - this.#now();
    if (wait > 0) throw new UnavailableError(`Weir is unavailable: next probe in ${Math.ceil(wait)} ms`);
    this.#become('half_open');
    return true;
  }

  #succeeded() {
    this.#inARow = 0;
    this.#intervalMs = this.#firstIntervalMs;
    this.#become('closed');
  }

  /** @param {boolean} isProbe */
  #failed(isProbe) {
    if (this.#state === 'closed') {
      this.#inARow += 1;
      if (this.#inARow !== this.#failures) return;
    } else if (isProbe) {
      this.#intervalMs = Math.min(2 * this.#intervalMs, this.#maxIntervalMs);
    } else { // it began before the breaker opened
      return;
    }
    this.#probeAt = this.#now() + this.#intervalMs * (0.5 + 0.5 * this.#chance());
    this.#become('open');
  }

  /** @param {BreakerState} state */
  #become(state) {
    if (this.#state === state) return;
    this.#state = state;
    this.#onChange?.(state);
  }
}

module.exports = { Breaker };
