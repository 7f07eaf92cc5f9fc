/** A request to be evaluated. What is left out is not sent. */
export interface Query {
  method?: string | undefined;
  /** As the client sent it, with its query or without. */
  path?: string | undefined;
  /** The address that the request came from, with a port or without. Headers that say who is calling are believed only
   * if it is that of a trusted proxy. */
  ip?: string | undefined;
  /** What the program knows about the caller. These override the headers. */
  user?: string | undefined;
  apiKey?: string | undefined;
  tier?: string | undefined;
  headers?: [string, string][] | Record<string, string | string[] | undefined> | undefined;
  /** A whole number; by default 1, or what the policy says. */
  cost?: number | undefined;
  /** How long to wait for a turn in a queue; by default any time. */
  maxWaitMs?: number | undefined;
}

/** Whether a request may pass. */
export interface Verdict {
  admitted: boolean;
  reason: string;
  /** 200, 429, or 403 where waiting never helps. */
  status: number;
  /** The limit that the numbers are of. */
  limit: string | null;
  quota: number | null;
  remaining: number | null;
  /** Null: waiting does not help. */
  retryAfterMs: number | null;
  resetAfterMs: number | null;
  /** Admitted by a queue: how long to wait before going on. */
  delayMs: number;
  route: string | null;
  tier: string | null;
  /** The identity that the request lacks. */
  missing: string | null;
  /** The rate limit fields for the answer to the request. */
  fields: [string, string][];
  /** Of a denial: the body for the answer, application/problem+json. */
  problem: string;
}

/** What came of a receipt or a report at one limit: done, ended, unknown, repeated or id_not_recorded. */
export interface LimitResult {
  limit: string | null;
  result: string;
  quota: number | null;
  remaining: number | null;
  resetAfterMs: number | null;
  /** Used, and not charged for want of room. */
  lost: number;
}

export interface Settlement {
  limits: LimitResult[];
  /** Of an extend: in which time. */
  receiptEndsMs: number | null;
}

export interface ClientOptions {
  /** http://host:port, https://host:port or unix:/path; by default http://127.0.0.1:8080. */
  url?: string | undefined;
  /** For an answer; by default 250. */
  timeoutMs?: number | undefined;
  /** Whether requests pass while Weir is away; by default 'open'. */
  fail?: 'open' | 'closed' | undefined;
  /** For a listener with a token_file. */
  token?: string | undefined;
  /** For https, as for tls.connect. */
  tls?: import('node:tls').ConnectionOptions | undefined;
  /** Called for each failure; by default a warning tells when Weir goes away, and of refusals. */
  onError?: ((error: Error) => void) | undefined;
  /** After so many failures in a row `fail` decides at once, until a probe is answered; by default 5, 0 or below
   * is never. */
  breakerFailures?: number | undefined;
  /** Until the first probe; each that fails doubles it. By default 500. */
  breakerIntervalMs?: number | undefined;
  /** The longest time between probes; by default 5000. */
  breakerMaxIntervalMs?: number | undefined;
  /** Called with each new state of the circuit breaker. */
  onBreaker?: ((state: BreakerState) => void) | undefined;
}

/** Of the circuit breaker: requests are sent; none is; one is, the probe. */
export type BreakerState = 'closed' | 'open' | 'half_open';

export interface ReserveOptions {
  /** Until the receipt ends; by default the server's, ten minutes. */
  leaseMs?: number | undefined;
  /** Makes the reserve repeatable by the caller. Never take it from what a client sends. */
  id?: string | undefined;
}

/**
 * Asks Weir. `check` and `reserve` never fail for want of an answer: after `timeoutMs` without one they admit or deny,
 * as `fail` says; after `breakerFailures` of them in a row they do so at once, until a probe is answered. What Weir
 * refuses to evaluate is denied.
 */
export class Client {
  constructor(options?: ClientOptions);
  check(query: Query): Promise<Verdict>;
  /** What a check would say. Charges nothing. */
  peek(query: Query): Promise<Verdict>;
  /** Takes the query's cost, or throws a DeniedError. */
  reserve(query: Query, options?: ReserveOptions): Promise<Reservation>;
  /** Reserves, calls `work`, and then settles what was reserved, unless `work` did. If it fails, it is released. */
  withReservation<T>(query: Query, work: (reservation: Reservation) => T | Promise<T>): Promise<T>;
  settle(receipt: string, actual: number): Promise<Settlement>;
  release(receipt: string): Promise<Settlement>;
  extend(receipt: string, leaseMs?: number): Promise<Settlement>;
  /** Charges what was used, the query's cost, whatever is left. Without an id it is sent once only. */
  report(query: Query, options?: { id?: string | undefined }): Promise<Settlement>;
  /** The verdict on a request that cannot be asked about. */
  refuse(detail: string): Verdict;
  readonly breakerState: BreakerState;
  /** Closes the connections that are kept. */
  close(): void;
}

/** What was taken, until it is settled or released. */
export class Reservation {
  private constructor();
  readonly verdict: Verdict;
  /** Null: nothing is to be settled. */
  readonly receipt: string | null;
  readonly receiptEndsMs: number | null;
  /** Limits that were charged, and have no receipt. */
  readonly notKept: string[];
  /** What it cost beyond an estimate that has no receipt is reported; all of it, if Weir was away at the reserve. If
   * it still is, only `onError` is told. */
  settle(actual: number): Promise<Settlement>;
  release(): Promise<Settlement>;
  extend(leaseMs?: number): Promise<Settlement>;
  /** Settles what was reserved, unless it was settled or released before. Never fails. */
  finish(): Promise<void>;
  /** Releases, unless it was settled or released before. Never fails. For `finally`, or by `await using`. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Weir did not answer within the time limit, or with an answer that says nothing. */
export class UnavailableError extends Error {}

/** Weir does not take what it was sent. */
export class RefusedError extends Error {
  /** That of its answer, or 0 if it was not sent. */
  readonly status: number;
}

/** A reserve that was denied. */
export class DeniedError extends Error {
  readonly verdict: Verdict;
}

/** What the middlewares leave in the request. */
export interface Evaluated {
  verdict: Verdict;
  reservation: Reservation | null;
}
