import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { Client, Evaluated, Query } from './index.js';

declare module 'fastify' {
  interface FastifyRequest {
    weir: Evaluated | null;
  }
}

declare namespace weir {
  interface WeirOptions {
    /** By default one with default options. */
    client?: Client | undefined;
    /** May change what is asked: say who is calling, or what it costs. */
    query?: ((request: FastifyRequest, query: Query) => Query | Promise<Query>) | undefined;
    /** Those that are sent; by default all. */
    headers?: Iterable<string> | undefined;
    /** How long a request waits for its turn in a queue; by default 5000. */
    maxWaitMs?: number | undefined;
    /** Lets the cost be reserved, as limits on concurrency need it. `request.weir.reservation` settles it, or the end of
     * the response. */
    reserve?: boolean | undefined;
    /** When to ask; by default 'onRequest'. In 'preHandler' the query function sees what earlier hooks found out. */
    hook?: 'onRequest' | 'preHandler' | undefined;
  }
}

/** Asks about every request before its handler gets it. Admitted, the answer has the rate limit fields; denied, it is
 * 429 or 403 with the server's problem as its body. */
declare const weir: FastifyPluginAsync<weir.WeirOptions> & { default: FastifyPluginAsync<weir.WeirOptions> };

export = weir;
