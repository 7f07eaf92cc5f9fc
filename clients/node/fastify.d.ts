// SPDX-License-Identifier: Apache-2.0
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Client, Evaluated, Query } from './index.js';

declare module 'fastify' {
  interface FastifyRequest {
    weir: Evaluated | null;
  }
}

declare namespace weir {
  interface WeirOptions {
    /** By default a client with default options. */
    client?: Client | undefined;
    /** May change the query, for example to set the user or the cost. */
    query?: ((request: FastifyRequest, query: Query) => Query | Promise<Query>) | undefined;
    /** The headers to send; by default all. */
    headers?: Iterable<string> | undefined;
    /** Maximum time in a queue; by default 5000. */
    maxWaitMs?: number | undefined;
    /** Reserves the cost, which concurrency limits need. It is settled through `request.weir.reservation` or at the end
     * of the response. */
    reserve?: boolean | undefined;
    /** The hook that checks; by default 'onRequest'. A 'preHandler' can use the results of earlier hooks. */
    hook?: 'onRequest' | 'preHandler' | undefined;
  }
}

/** Checks every request before its handler. If admitted, the response gets the rate limit fields; if denied, it is 429
 * or 403 with the server's problem details as its body. */
declare const weir: FastifyPluginAsync<weir.WeirOptions> & { default: FastifyPluginAsync<weir.WeirOptions> };

export = weir;
