'use strict';
// Executes commands, one JSON object per line of standard input, with a client, and answers each with a line: see
// driver.py.

const fs = require('node:fs');
const readline = require('node:readline');
const { Client, DeniedError, RefusedError, UnavailableError } = require('../../clients/node');

const reservations = new Map();
let client;
let errors = [];
let changes = []; // changes of the breaker's state

const seconds = (ms) => (ms === null ? null : ms / 1000);

const milliseconds = (given) => (given === undefined ? undefined : given * 1000);

function query(written) {
  const { api_key: apiKey, max_wait: wait, ...rest } = written;
  return { ...rest, apiKey, maxWaitMs: wait === undefined ? undefined : wait * 1000 };
}

function verdict(given) {
  const { retryAfterMs, resetAfterMs, delayMs, fields, problem, ...rest } = given;
  return {
    ...rest, retry_after: seconds(retryAfterMs), reset_after: seconds(resetAfterMs), delay: seconds(delayMs),
    fields: Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value])),
    problem: problem ? JSON.parse(problem) : null,
  };
}

function settlement(given) {
  const limits = given.limits.map(({ resetAfterMs, ...rest }) => ({ ...rest, reset_after: seconds(resetAfterMs) }));
  return { limits, receipt_ends: seconds(given.receiptEndsMs) };
}

const commands = {
  new: ({ url, timeout, fail, token, ca, ...breaker }) => {
    client?.close();
    changes = [];
    const onError = (error) => errors.push(error instanceof RefusedError ? 'refused' : 'unavailable');
    const tls = ca ? { ca: fs.readFileSync(ca) } : undefined;
    client = new Client({
      url, timeoutMs: timeout * 1000, fail, token: token ?? undefined, tls, onError,
      breakerFailures: breaker.breaker_failures, breakerIntervalMs: milliseconds(breaker.breaker_interval),
      breakerMaxIntervalMs: milliseconds(breaker.breaker_max_interval), onBreaker: (state) => changes.push(state),
    });
    return {};
  },
  check: async (given) => verdict(await client.check(query(given))),
  peek: async (given) => verdict(await client.peek(query(given))),
  burst: async (given, line) => {
    const verdicts = await Promise.all(Array.from({ length: line.count }, () => client.check(query(given))));
    return { reasons: [...new Set(verdicts.map(({ reason }) => reason))].sort() };
  },
  breaker: () => ({ state: client.breakerState, changes: [...changes] }),
  reserve: async (given, line) => {
    const made = await client.reserve(query(given), { leaseMs: milliseconds(line.lease), id: line.id });
    reservations.set(line.as, made);
    return {
      ...verdict(made.verdict), receipt: made.receipt !== null, receipt_ends: seconds(made.receiptEndsMs),
      not_kept: made.notKept,
    };
  },
  within: async (given, line) => {
    const failure = new Error('of the work');
    let said;
    try {
      await client.withReservation(query(given), async (made) => {
        said = verdict(made.verdict);
        if (line.then === 'settle') await made.settle(line.actual);
        if (line.then === 'fail') throw failure;
      });
    } catch (error) {
      if (error !== failure) throw error;
      return { ...said, failed: true };
    }
    return { ...said, failed: false };
  },
  report: async (given, line) => settlement(await client.report(query(given), { id: line.id })),
  settle: async (name, line) => settlement(await reservations.get(name).settle(line.actual)),
  settle_text: async (text, line) => settlement(await client.settle(text, line.actual)),
  release: async (name) => settlement(await reservations.get(name).release()),
  extend: async (name, line) => settlement(await reservations.get(name).extend(line.lease * 1000)),
};

async function run(line) {
  errors = [];
  const name = Object.keys(commands).find((one) => one in line);
  try {
    return { ...await commands[name](line[name], line), errors };
  } catch (error) {
    if (error instanceof DeniedError) return { denied: true, ...verdict(error.verdict), errors };
    if (error instanceof RefusedError) return { error: 'refused', error_status: error.status, errors };
    if (error instanceof UnavailableError) return { error: 'unavailable', errors };
    throw error;
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await run(JSON.parse(line))) + '\n');
  }
}

main();
