// SPDX-License-Identifier: Apache-2.0
'use strict';
// Sends requests to one server over persistent connections, each with a timeout.

const http = require('node:http');
const https = require('node:https');
const { RefusedError, UnavailableError } = require('./errors.js');

/** @typedef {import('./messages.js').Answer} Answer */

const MAX_IDLE = 64; // connections
const MAX_BODY = 256 * 1024; // the server would reject longer ones
const MAX_RESPONSE = 1024 * 1024;

/** An idle connection was closed before the first byte of a response. */
class StaleConnection extends Error {}

/** @param {string} url @returns {{ secure: boolean, place: import('node:http').RequestOptions }} */
function parse(url) {
  if (url.startsWith('unix:/')) {
    return { secure: false, place: { socketPath: url.slice('unix:'.length).replace(/^\/+/, '/') } };
  }
  let parsed;
  try {
    parsed = new URL(url);
  } catch {
    parsed = undefined;
  }
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.pathname !== '/' || parsed.search) {
    throw new TypeError(`url ${JSON.stringify(url)}: must be http://host:port, https://host:port or unix:/path`);
  }
  const secure = parsed.protocol === 'https:';
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
  return { secure, place: { host, port: Number(parsed.port) || (secure ? 443 : 80) } };
}

class Transport {
  #request;
  #agent;
  #place;
  #headers;
  #timeoutMs;

  /** @param {{ url: string, timeoutMs: number, token?: string | undefined, tls?: object | undefined }} options */
  constructor({ url, timeoutMs, token, tls }) {
    const { secure, place } = parse(url);
    const options = { keepAlive: true, maxFreeSockets: MAX_IDLE, scheduling: /** @type {const} */ ('lifo') };
    this.#request = secure ? https.request : http.request;
    this.#agent = secure ? new https.Agent({ ...tls, ...options }) : new http.Agent(options);
    this.#place = place;
    this.#headers = { 'Content-Type': 'application/json', 'X-Weir-Problem': 'field', ...(token && { 'X-Weir-Token': token }) };
    http.validateHeaderValue('X-Weir-Token', token ?? '');
    this.#timeoutMs = timeoutMs;
  }

  /** Throws if the body is too long. @param {string} path @param {string} text */
  request(path, text) {
    const body = Buffer.from(text);
    if (body.length > MAX_BODY) {
      throw new RefusedError(0, `request of ${body.length} bytes exceeds the maximum of ${MAX_BODY} bytes`);
    }
    return { path, body };
  }

  /** @param {{ path: string, body: Buffer }} request @param {boolean} mayRepeat @returns {Promise<Answer>} */
  async post({ path, body }, mayRepeat) {
    const deadline = performance.now() + this.#timeoutMs;
    try {
      return await this.#exchange(path, body, deadline);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      this.close();
      if (!mayRepeat) {
        throw new UnavailableError('Weir closed the connection; a report without an id is not sent again', error);
      }
    }
    try {
      return await this.#exchange(path, body, deadline);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      throw new UnavailableError('Weir closes connections without an answer', error);
    }
  }

  /** Closes idle connections. */
  close() {
    for (const kept of Object.values(this.#agent.freeSockets)) {
      for (const socket of [...(kept ?? [])]) socket.destroy();
    }
  }

  /** @param {string} path @param {Buffer} body @param {number} deadline @returns {Promise<Answer>} */
  #exchange(path, body, deadline) {
    return new Promise((resolve, reject) => {
      const headers = { ...this.#headers, 'Content-Length': body.length };
      const request = this.#request({ ...this.#place, agent: this.#agent, method: 'POST', path, headers });
      let socket = /** @type {import('node:net').Socket | undefined} */ (undefined);
      let readBefore = 0;
      let isOver = false;

      // A busy event loop runs timers before it reads, so this first reads the data that has already arrived.
      const timer = setTimeout(() => setImmediate(() => {
        fail(new UnavailableError(`Weir did not answer within ${this.#timeoutMs} ms`));
      }), Math.max(0, deadline - performance.now()));

      /** @param {Error} error */
      const fail = (error) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        reject(error);
        request.destroy();
      };
      /** @param {Error} [error] */
      const closed = (error) => {
        const isStale = request.reusedSocket && socket?.bytesRead === readBefore;
        fail(isStale ? new StaleConnection('stale', { cause: error })
          : new UnavailableError(`Weir is unavailable: ${error?.message ?? 'connection closed'}`, error));
      };

      request.on('socket', (given) => {
        socket = given;
        readBefore = given.bytesRead;
      });
      request.on('error', closed);
      request.on('close', () => closed());
      request.on('response', (response) => {
        /** @type {Buffer[]} */
        const parts = [];
        let length = 0;
        response.on('data', (part) => {
          parts.push(part);
          length += part.length;
          if (length > MAX_RESPONSE) fail(new UnavailableError('Weir is unavailable: response too long'));
        });
        response.on('error', closed);
        response.on('end', () => {
          if (!response.complete) return closed();
          isOver = true;
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, fields: fieldsOf(response.rawHeaders),
            body: Buffer.concat(parts).toString() });
        });
      });
      request.end(body);
    });
  }
}

/** @param {string[]} raw @returns {[string, string][]} */
function fieldsOf(raw) {
  /** @type {[string, string][]} */
  const fields = [];
  for (let i = 0; i + 1 < raw.length; i += 2) fields.push([raw[i] ?? '', raw[i + 1] ?? '']);
  return fields;
}

module.exports = { Transport, fieldsOf };
