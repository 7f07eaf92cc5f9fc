// SPDX-License-Identifier: Apache-2.0
'use strict';

const net = require('node:net');

const BRACKETED = /^\[([^[\]]*)\](?::(\d{1,5}))?$/;
const V4_AND_PORT = /^([\d.]+):(\d{1,5})$/;

/** Returns an address without port, brackets and zone; undefined if the text is not an address. @param {string} text */
function addressOf(text) {
  const matched = BRACKETED.exec(text) ?? V4_AND_PORT.exec(text);
  if (Number(matched?.[2] ?? 0) > 65535) return undefined;
  const host = matched?.[1] ?? text;
  const address = host.includes(':') ? host.replace(/%.*$/, '') : host;
  return net.isIP(address) === 0 ? undefined : address;
}

module.exports = { addressOf };
