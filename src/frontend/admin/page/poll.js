// Asks again and again while a view is shown. The next question waits for the answer to the last one, so a slow server
// is asked less often; a page that is hidden asks nothing.

import {element, replace} from "./dom.js";

export class Poll {
  // load() gives a promise, draw(value) shows it, interval is in ms.
  constructor(load, draw, interval) {
    Object.assign(this, {load, draw, interval});
    this.round = 0;
    this.timer = 0;
    this.problem = element("div", {class: "problem", role: "alert", hidden: true});
    document.addEventListener("visibilitychange", () => {
      if (this.running && !document.hidden) this.start();
    });
  }

  start() {
    this.running = true;
    clearTimeout(this.timer);
    this.ask(++this.round);
  }

  stop() {
    this.running = false;
    ++this.round;
    clearTimeout(this.timer);
    this.problem.hidden = true;
  }

  async ask(round) {
    try {
      const value = await this.load();
      if (round !== this.round) return;
      this.problem.hidden = true;
      this.draw(value);
    } catch (problem) {
      if (round !== this.round) return;
      if (problem.status === undefined) throw problem;
      this.tell(problem);
    }
    if (!document.hidden) this.timer = setTimeout(() => this.ask(round), this.interval);
  }

  // That the server is away, or wants a token, is told once for the whole page.
  tell(problem) {
    this.problem.hidden = problem.status === 0 || problem.wantsToken;
    replace(this.problem, element("p", {}, problem.message));
  }
}
