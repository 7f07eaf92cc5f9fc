// The stream of /v1/stream, one message per second. Read with fetch, because EventSource cannot send the token. When it
// breaks or is silent, it is reopened after a delay that grows with each failure. A hidden page closes it, because
// browsers open at most six connections per server for all windows.

import {headers, problemOf, Problem} from "./api.js";

const SILENCE = 6000;  // ms; the server sends a message per second
const FIRST_WAIT = 500;
const MAX_WAIT = 10000;

// Parses server-sent events: feed() accepts chunks of text and calls back for each complete event.
class EventReader {
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.rest = "";
    this.clear();
  }

  clear() {
    this.name = "message";
    this.data = [];
  }

  feed(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  line(line) {
    if (line === "") {
      if (this.data.length > 0) this.onEvent(this.name, this.data.join("\n"));
      this.clear();
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value;
    if (field === "data") this.data.push(value);
  }
}

// Calls onEvent(name, value) for each event, with its data parsed as JSON, and onState(state, problem, retryAt) with
// `connecting`, `live`, `lost`, or `paused` while the page is hidden.
export class Stream {
  constructor(path, onEvent, onState) {
    this.path = path;
    this.onEvent = onEvent;
    this.onState = onState;
    this.failures = 0;
    this.wake = null;
    this.aborter = null;
    window.addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => (document.hidden ? this.aborter?.abort() : this.retry()));
  }

  async run() {
    for (;;) {
      if (document.hidden) {
        this.onState("paused");
        await this.pause(null);
        continue;
      }
      this.onState("connecting");
      const problem = await this.readOnce();
      if (document.hidden) continue;
      const wait = Math.min(MAX_WAIT, FIRST_WAIT * 2 ** this.failures++) * (0.75 + Math.random() / 2);
      this.onState("lost", problem, Date.now() + wait);
      await this.pause(problem.wantsToken ? null : wait);
    }
  }

  // Ends the current delay.
  retry() {
    this.failures = 0;
    if (this.wake) this.wake();
  }

  restart() {
    this.retry();
    this.aborter?.abort();
  }

  pause(length) {
    return new Promise((resolve) => {
      const timer = length === null ? 0 : setTimeout(() => this.wake(), length);
      this.wake = () => {
        clearTimeout(timer);
        this.wake = null;
        resolve();
      };
    });
  }

  // Resolves to the reason when the stream has ended.
  async readOnce() {
    const aborter = new AbortController();
    this.aborter = aborter;
    let timer = 0;
    const waitLonger = () => {
      clearTimeout(timer);
      timer = setTimeout(() => aborter.abort(), SILENCE);
    };
    try {
      waitLonger();
      const response = await fetch(this.path, {
        headers: headers({Accept: "text/event-stream"}),
        cache: "no-store", credentials: "omit", redirect: "error", signal: aborter.signal,
      });
      if (!response.ok) return await problemOf(response);
      await this.readBody(response, waitLonger);
      return new Problem(0, "The server closed the connection.");
    } catch {
      return new Problem(0, aborter.signal.aborted ? "The server stopped sending." : "The server is unreachable.");
    } finally {
      clearTimeout(timer);
      aborter.abort();
    }
  }

  async readBody(response, waitLonger) {
    const events = new EventReader((name, data) => {
      this.failures = 0;
      try {
        this.onEvent(name, JSON.parse(data));
      } catch (error) {
        reportError(error);  // an error in the page must not close the stream
      }
    });
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    this.onState("live");
    for (;;) {
      const {value, done} = await reader.read();
      if (done) return;
      waitLonger();
      events.feed(decoder.decode(value, {stream: true}));
    }
  }
}
