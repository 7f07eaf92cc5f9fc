// SPDX-License-Identifier: Apache-2.0
'use strict';

/** Weir did not answer within the timeout, or sent an invalid response. */
class UnavailableError extends Error {
  /** @param {string} message @param {unknown} [cause] */
  constructor(message, cause) {
    super(message, { cause });
    this.name = 'UnavailableError';
  }
}

/** Weir does not take what it was sent. `status` is that of its answer, or 0 if it was not sent. */
class RefusedError extends Error {
  /** @param {number} status @param {string} detail */
  constructor(status, detail) {
    super(detail);
    this.name = 'RefusedError';
    this.status = status;
  }
}

/** A reserve was denied. */
class DeniedError extends Error {
  /** @param {import('../index.js').Verdict} verdict */
  constructor(verdict) {
    super(`denied: ${verdict.reason}${verdict.limit ? ` (${verdict.limit})` : ''}`);
    this.name = 'DeniedError';
    this.verdict = verdict;
  }
}

module.exports = { UnavailableError, RefusedError, DeniedError };
