// SPDX-License-Identifier: Apache-2.0
/** A request to evaluate. Absent fields are not sent. */
export interface Query {
  method?: string | undefined;
  /** As received, with or without the query string. */
  path?: string | undefined;
  /** The peer address, with or without a port. Identity headers are trusted only if it belongs to a trusted proxy. */
  ip?: string | undefined;
  /** `user`, `apiKey` and `tier` are verified by the program and override the headers. */
  user?: string | undefined;
  apiKey?: string | undefined;
  tier?: string | undefined;
  headers?: [string, string][] | Record<string, string | string[] | undefined> | undefined;
  /** An integer; by default the policy's cost, or 1. */
  cost?: number | undefined;
  /** Maximum time in a queue; by default unlimited. */
  maxWaitMs?: number | undefined;
}

/** The decision on a request. */
export interface Verdict {
  admitted: boolean;
  reason: string;
  /** 200, 429, or 403 where waiting never helps. */
  status: number;
  /** The limit that the numbers describe. */
  limit: string | null;
  quota: number | null;
  remaining: number | null;
  /** Null: waiting does not help. */
  retryAfterMs: number | null;
  resetAfterMs: number | null;
  /** Admitted by a queue: how long to wait before proceeding. */
  delayMs: number;
  route: string | null;
  tier: string | null;
  /** The identity that the request lacks. */
  missing: string | null;
  /** The rate limit fields for the response. */
  fields: [string, string][];
  /** The body of a denial, application/problem+json. */
  problem: string;
}

/** The result of a receipt or a report at one limit: done, ended, unknown, repeated or id_not_recorded. */
export interface LimitResult {
  limit: string | null;
  result: string;
  quota: number | null;
  remaining: number | null;
  resetAfterMs: number | null;
  /** Used but not charged, because the limit's debt is bounded. */
  lost: number;
}

export interface Settlement {
  limits: LimitResult[];
  /** Extend: time until the receipt expires. */
  receiptEndsMs: number | null;
}

export interface ClientOptions {
  /** http://host:port, https://host:port or unix:/path; by default http://127.0.0.1:8080. */
  url?: string | undefined;
  /** Timeout of a request; by default 250. */
  timeoutMs?: number | undefined;
  /** Whether requests pass while Weir is unavailable; by default 'open'. */
  fail?: 'open' | 'closed' | undefined;
  /** For a listener with a token_file. */
  token?: string | undefined;
  /** For https, as for tls.connect. */
  tls?: import('node:tls').ConnectionOptions | undefined;
  /** Called for each failure; by default outages and rejections are emitted as warnings. */
  onError?: ((error: Error) => void) | undefined;
  /** After this many consecutive failures `fail` decides at once, until a probe is answered; by default 5. 0 or below
   * disables the breaker. */
  breakerFailures?: number | undefined;
  /** Time until the first probe; doubles with each failed probe. By default 500. */
  breakerIntervalMs?: number | undefined;
  /** Maximum time between probes; by default 5000. */
  breakerMaxIntervalMs?: number | undefined;
  /** Called with each new state of the circuit breaker. */
  onBreaker?: ((state: BreakerState) => void) | undefined;
}

/** State of the circuit breaker: requests are sent; none is sent; one probe is in flight. */
export type BreakerState = 'closed' | 'open' | 'half_open';

export interface ReserveOptions {
  /** Lifetime of the receipt; by default the server's, ten minutes. */
  leaseMs?: number | undefined;
  /** Makes the reserve repeatable. Never take it from client input. */
  id?: string | undefined;
}

/**
 * A client of Weir. `check` and `reserve` do not throw when Weir is unavailable: after `timeoutMs` they admit or deny
 * as `fail` says. After `breakerFailures` consecutive failures they do so at once, until a probe is answered. A request
 * that Weir rejects is denied.
 */
export class Client {
  constructor(options?: ClientOptions);
  check(query: Query): Promise<Verdict>;
  /** Returns the verdict of a check without charging. */
  peek(query: Query): Promise<Verdict>;
  /** Reserves the query's cost, or throws a DeniedError. */
  reserve(query: Query, options?: ReserveOptions): Promise<Reservation>;
  /** Reserves, calls `work`, and settles at the reserved cost unless `work` settled. If `work` fails, releases. */
  withReservation<T>(query: Query, work: (reservation: Reservation) => T | Promise<T>): Promise<T>;
  settle(receipt: string, actual: number): Promise<Settlement>;
  release(receipt: string): Promise<Settlement>;
  extend(receipt: string, leaseMs?: number): Promise<Settlement>;
  /** Charges the query's cost even if it exceeds the limit. Without an id the request is never sent again. */
  report(query: Query, options?: { id?: string | undefined }): Promise<Settlement>;
  /** The verdict on a request that cannot be sent to Weir. */
  refuse(detail: string): Verdict;
  readonly breakerState: BreakerState;
  /** Closes idle connections. */
  close(): void;
}

/** A reserved cost, to be settled or released. */
export class Reservation {
  private constructor();
  readonly verdict: Verdict;
  /** Null: nothing to settle. */
  readonly receipt: string | null;
  readonly receiptEndsMs: number | null;
  /** Limits charged without a receipt. */
  readonly notKept: string[];
  /** Settles at the actual cost. For limits without a receipt, reports the excess over the estimate; if Weir was
   * unavailable at the reserve, reports the whole cost and passes a failure to `onError`. */
  settle(actual: number): Promise<Settlement>;
  release(): Promise<Settlement>;
  extend(leaseMs?: number): Promise<Settlement>;
  /** Settles at the reserved cost, unless settled or released before. Never rejects. */
  finish(): Promise<void>;
  /** Releases, unless settled or released before. Never rejects. For `finally`, or by `await using`. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Weir did not answer within the timeout, or sent an invalid response. */
export class UnavailableError extends Error {}

/** Weir rejected the request. */
export class RefusedError extends Error {
  /** The status of the response, or 0 if the request was not sent. */
  readonly status: number;
}

/** A reserve was denied. */
export class DeniedError extends Error {
  readonly verdict: Verdict;
}

/** The result that the middleware stores in the request. */
export interface Evaluated {
  verdict: Verdict;
  reservation: Reservation | null;
}
