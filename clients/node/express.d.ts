// SPDX-License-Identifier: Apache-2.0
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client, Evaluated, Query } from './index.js';

export interface Request extends IncomingMessage {
  originalUrl?: string;
  weir?: Evaluated;
}

export interface MiddlewareOptions<R extends Request = any> {
  /** By default a client with default options. */
  client?: Client | undefined;
  /** May change the query, for example to set the user or the cost. */
  query?: ((request: R, query: Query) => Query | Promise<Query>) | undefined;
  /** The headers to send; by default all. */
  headers?: Iterable<string> | undefined;
  /** Maximum time in a queue; by default 5000. */
  maxWaitMs?: number | undefined;
  /** Reserves the cost, which concurrency limits need. It is settled through `request.weir.reservation` or at the end
   * of the response. */
  reserve?: boolean | undefined;
}

export type Middleware = (request: Request, response: ServerResponse, next: (error?: unknown) => void) => void;

/** Checks every request before the next handler. If admitted, the response gets the rate limit fields; if denied, it is
 * 429 or 403 with the server's problem details as its body. */
export function middleware(options?: MiddlewareOptions): Middleware;

declare global {
  namespace Express {
    interface Request {
      weir?: Evaluated;
    }
  }
}
