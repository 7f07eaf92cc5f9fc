// Polls while a view is shown. Each request waits for the previous response, so a slow server is polled less often. A
// hidden page does not poll.

import {element, replace} from "./dom.js";

export class Poll {
  // load() returns a promise, draw(value) shows its value, interval is in ms.
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
      this.showProblem(problem);
    }
    if (!document.hidden) this.timer = setTimeout(() => this.ask(round), this.interval);
  }

  // An unreachable server or a missing token is shown by the page's notice instead.
  showProblem(problem) {
    this.problem.hidden = problem.status === 0 || problem.wantsToken;
    replace(this.problem, element("p", {}, problem.message));
  }
}
