import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client, Evaluated, Query } from './index.js';

export interface Request extends IncomingMessage {
  originalUrl?: string;
  weir?: Evaluated;
}

export interface MiddlewareOptions<R extends Request = any> {
  /** By default one with default options. */
  client?: Client | undefined;
  /** May change what is asked: say who is calling, or what it costs. */
  query?: ((request: R, query: Query) => Query | Promise<Query>) | undefined;
  /** Those that are sent; by default all. */
  headers?: Iterable<string> | undefined;
  /** How long a request waits for its turn in a queue; by default 5000. */
  maxWaitMs?: number | undefined;
  /** Lets the cost be reserved, as limits on concurrency need it. `request.weir.reservation` settles it, or the end of
   * the response. */
  reserve?: boolean | undefined;
}

export type Middleware = (request: Request, response: ServerResponse, next: (error?: unknown) => void) => void;

/** Asks about every request before what follows gets it. Admitted, the answer has the rate limit fields; denied, it is
 * 429 or 403 with the server's problem as its body. */
export function middleware(options?: MiddlewareOptions): Middleware;

declare global {
  namespace Express {
    interface Request {
      weir?: Evaluated;
    }
  }
}
