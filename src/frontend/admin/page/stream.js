// The stream of what happens, once a second. It is read with fetch and not with EventSource, which could not carry the
// token. When it breaks, or nothing comes for a while, it is opened again after a wait that grows with each failure.
// A page that nobody sees has none: browsers open six connections to a server at most, for all of their windows.

import {headers, problemOf, Problem} from "./api.js";

const SILENCE = 6000;  // ms; the server writes each second
const FIRST_WAIT = 500;
const LONGEST_WAIT = 10000;

// Cuts a stream of server-sent events into events: feed() takes text as it comes and calls back for each whole event.
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

// onEvent(name, value) for each event, its data read as JSON. onState(state, problem) with `connecting`, `live`, or
// `lost`, why and until when it waits; `paused` while nobody sees the page.
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
      const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.failures++) * (0.75 + Math.random() / 2);
      this.onState("lost", problem, Date.now() + wait);
      await this.pause(problem.wantsToken ? null : wait);
    }
  }

  // Ends a wait, or begins anew with another token.
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

  // Returns when the stream has ended, with why.
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
      return new Problem(0, "The server ended the connection.");
    } catch {
      return new Problem(0, aborter.signal.aborted ? "Nothing came for a while." : "The server cannot be reached.");
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
        reportError(error);  // a mistake of the page is no broken connection
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
