// One consumer: what is left of every limit, and how to let it pass again. What is typed here goes to the server in the
// body of a POST, never into an address, and is not kept.

import {hasToken, post} from "./api.js";
import {askForToken, confirm, withToken} from "./dialogs.js";
import {element, redraw, replace} from "./dom.js";
import {count, duration, plural, when} from "./format.js";
import {bar} from "./marks.js";
import {badge, code, empty, facts, head, limitLink, message, textInput} from "./parts.js";
import {Poll} from "./poll.js";
import {reason} from "./words.js";

export class ConsumerView {
  constructor() {
    this.value = textInput("consumer-value", "user=alice, ip=203.0.113.7");
    this.value.required = true;
    this.tier = textInput("consumer-tier", "default");
    this.came = element("div");     // of a reset
    this.results = element("div");
    this.others = element("div");
    this.asked = null;
    this.poll = new Poll(() => post("/v1/consumer", this.asked), (answer) => this.take(answer), 2000);
    this.node = element("div", {},
      head("Consumer", element("p", {class: "soft"},
        "What it has left of every limit. Looking charges nothing and is not logged.")),
      element("form", {class: "card form", onsubmit: (event) => this.ask(event)},
        element("label", {class: "grow"}, "Consumer", this.value),
        element("label", {class: "narrow"}, "Tier, if it has one", this.tier),
        element("button", {type: "submit", class: "main"}, "Look up")),
      this.poll.problem, this.came, this.results, this.others);
    replace(this.results,
      empty("Write the consumer as for weir peek: user=alice, ip=203.0.113.7, api_key=..., or parts joined by +."));
  }

  show() {
    if (this.asked) this.poll.start();
  }

  hide() {
    this.poll.stop();
  }

  ask(event) {
    event.preventDefault();
    const consumer = this.value.value.trim();
    if (!consumer) return;
    const tier = this.tier.value.trim();
    this.asked = tier ? {consumer, tier} : {consumer};
    replace(this.came);
    replace(this.results);
    redraw(this.others, null, () => []);
    this.poll.start();
  }

  take(answer) {
    const active = document.activeElement?.dataset?.reset;  // what has the focus keeps it
    replace(this.results,
      answer.hash && element("p", {class: "soft"}, "In the log and in lists it is ", code(answer.hash), "."),
      answer.limits.length === 0 && empty("No limit counts a consumer like this."),
      element("div", {class: "columns"}, answer.limits.map((limit) => this.limitCard(limit, answer.hash))));
    redraw(this.others, answer.others, () => [answer.others.length > 0 && othersOf(answer.others)]);
    if (active) [...this.results.querySelectorAll("button")].find((each) => each.dataset.reset === active)?.focus();
  }

  limitCard(limit, hash) {
    return element("section", {class: "card half", "data-limit": limit.limit},
      element("header", {}, element("h2", {}, limitLink(limit.limit)), verdictOf(limit),
        element("span", {class: "right"}, element("button", {type: "button", "data-reset": limit.limit,
          onclick: () => this.reset(limit, hash)}, "Reset\u2026"))),
      element("p", {class: "soft small"}, limit.words),
      limit.blocked && message("problem", `Blocked by a penalty since ${when(limit.blocked.since)} UTC, for another `
        + `${duration(limit.blocked.expires_after)}.`),
      limit.quota !== null && gaugeOf(limit),
      facts(factsOf(limit, this.asked.consumer)));
  }

  async reset(limit, hash) {
    replace(this.came);
    if (!hasToken() && !(await askForToken())) return;
    const meant = await confirm(`Reset ${limit.consumer} at ${limit.limit}?`, whatWillHappen(limit, hash), "Reset it");
    if (!meant) return;
    try {
      const {out} = await withToken(() => post("/v1/consumer/reset", {limit: limit.limit, consumer: limit.consumer}));
      replace(this.came, message("done", `${limit.limit} has forgotten what it counted for ${limit.consumer}.`,
        out.units > 0 && ` Other nodes may still spend ${plural(out.units, "unit")} of slices that they hold, for at `
          + `most ${duration(out.expires_after)}.`));
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      replace(this.came, message("problem", `Nothing was reset. ${problem.message}`));
    }
    this.poll.start();
  }
}

function verdictOf(limit) {
  if (limit.admitted) return badge(`the next request passes: ${reason(limit.reason)}`, "good");
  return badge(`the next request is denied: ${reason(limit.reason)}`, "alarm");
}

function gaugeOf(limit) {
  const used = Math.max(0, limit.quota - limit.remaining);
  const drawn = bar([{look: limit.admitted ? "admitted" : "denied", value: used, label: "used"}], limit.quota || 1);
  drawn.classList.add("tall");
  return drawn;
}

function factsOf(limit, asked) {
  if (limit.quota === null) return [["Limit", "none for this tier"]];
  const {candidate} = limit;
  return [
    ["Counted as", limit.consumer === asked ? null : code(limit.consumer)],
    ["Left", `${count(limit.remaining)} of ${count(limit.quota)}`],
    ["Tier", limit.tier === "default" ? null : limit.tier],
    ["Passes again in", limit.admitted || limit.retry_after === null ? null : duration(limit.retry_after)],
    ["One more in", limit.more_after === null || limit.remaining >= limit.quota ? null : duration(limit.more_after)],
    [limit.since ? "All of it again in" : "Full again in", limit.reset_after > 0 ? duration(limit.reset_after) : null],
    ["Counted since", limit.since && `${when(limit.since)} UTC`],
    ["Mode", limit.mode === "shadow" ? "shadow: it never denies" : null],
    ["Among nodes", limit.consistency === "exact" ? null : limit.consistency],
    ["Held by nodes", limit.held > 0 ? `${plural(limit.held, "unit")} in ${plural(limit.holders, "slice")}` : null],
    ["Candidate", candidate && `would ${candidate.admitted ? "admit" : "deny"} the next request; `
      + `${count(candidate.remaining)} of ${count(candidate.quota)} left`],
  ];
}

function whatWillHappen(limit, hash) {
  const spent = count(Math.max(0, limit.quota - limit.remaining));
  const used = limit.quota === null ? "" : `: ${spent} of ${count(limit.quota)} used`;
  return element("ul", {},
    element("li", {}, `What was counted for it is forgotten${used}.`),
    limit.blocked && element("li", {}, `Its block ends now, and not in ${duration(limit.blocked.expires_after)}.`),
    element("li", {}, "Warnings that it was given are forgotten as well."),
    limit.quota !== null && element("li", {}, `It can pass again at once, ${count(limit.quota)} times.`),
    limit.held > 0 && element("li", {},
      `Other nodes may still spend what they hold of it: ${plural(limit.held, "unit")}.`),
    element("li", {}, "Other consumers and other limits stay as they are."),
    element("li", {}, "The log gets a line about it", hash && [", with the hash ", code(hash)], "."),
    element("li", {}, "It cannot be undone."));
}

function othersOf(others) {
  return element("details", {class: "card"},
    element("summary", {}, `${plural(others.length, "limit")} cannot have such a consumer`),
    element("ul", {class: "plain"}, others.map((other) => element("li", {}, limitLink(other.limit), ": ", other.why))));
}
