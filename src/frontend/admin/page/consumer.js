// One consumer: its counters at all limits, their reset, and what operators change for it. The input is sent in the body of a POST, never in a URL,
// and is not stored.

import {hasToken, post} from "./api.js";
import {askForToken, confirm, withToken} from "./dialogs.js";
import {element, redraw, replace} from "./dom.js";
import {ExceptionForm, ExceptionList} from "./exceptions.js";
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
    this.outcome = element("div");  // the result of a reset
    this.results = element("div");
    this.others = element("div");
    this.query = null;
    const changed = (text) => this.changed(text);
    this.form = new ExceptionForm(changed);
    this.list = new ExceptionList(changed);
    this.poll = new Poll(() => post("/v1/consumer", this.query), (answer) => this.take(answer), 2000);
    this.node = element("div", {},
      head("Consumer", element("p", {class: "soft"},
        "Remaining units at every limit. A lookup charges nothing and is not logged.")),
      element("form", {class: "card form", onsubmit: (event) => this.ask(event)},
        element("label", {class: "grow"}, "Consumer", this.value),
        element("label", {class: "narrow"}, "Tier (optional)", this.tier),
        element("button", {type: "submit", class: "main"}, "Look up")),
      this.poll.problem, this.outcome, this.form.node, this.results, this.others, this.list.node);
    replace(this.results,
      empty("Enter a consumer as for weir peek: user=alice, ip=203.0.113.7, api_key=..., or parts joined by +."));
  }

  show() {
    if (this.query) this.poll.start();
    this.list.load();
  }

  changed(text) {
    replace(this.outcome, message("done", text));
    if (this.query) this.poll.start();
    this.list.load();
  }

  hide() {
    this.poll.stop();
  }

  ask(event) {
    event.preventDefault();
    const consumer = this.value.value.trim();
    if (!consumer) return;
    const tier = this.tier.value.trim();
    this.query = tier ? {consumer, tier} : {consumer};
    replace(this.outcome);
    this.form.close();
    replace(this.results);
    redraw(this.others, null, () => []);
    this.poll.start();
  }

  take(answer) {
    const active = nameOf(document.activeElement);  // restores the focus below
    replace(this.results,
      answer.hash && element("p", {class: "soft"}, "Hash in the log and in lists: ", code(answer.hash)),
      this.blockButton(answer),
      answer.limits.length === 0 && empty("No limit has such a consumer."),
      element("div", {class: "columns"}, answer.limits.map((limit) => this.limitCard(limit, answer.hash))));
    redraw(this.others, answer.others, () => [answer.others.length > 0 && othersOf(answer.others)]);
    if (active) [...this.results.querySelectorAll("button")].find((each) => nameOf(each) === active)?.focus();
  }

  // A consumer of one part can be blocked: as the limits write it, `user=alice` for `alice`.
  blockButton(answer) {
    const identity = answer.limits.map((limit) => limit.consumer).find((consumer) => !consumer.includes(" + "));
    if (!/^(user|api_key|ip|header:[^=]+)=/.test(identity ?? "")) return null;
    return element("p", {}, element("button", {type: "button", id: "block", onclick: () => this.form.block(identity)},
      `Block ${identity}\u2026`));
  }

  limitCard(limit, hash) {
    return element("section", {class: "card half", "data-limit": limit.limit},
      element("header", {}, element("h2", {}, limitLink(limit.limit)), verdictOf(limit),
        limit.override && badge(`override ${limit.override}`, "warn", "An operator changed the numbers of this consumer."),
        limit.block && badge(`block ${limit.block}`, "alarm"),
        element("span", {class: "right"},
          element("button", {type: "button", "data-change": limit.limit, onclick: () => this.form.change(limit)},
            "Change limit\u2026"),
          limit.algorithm === "fixed_window" && element("button", {type: "button", "data-grant": limit.limit,
            onclick: () => this.form.grant(limit)}, "Grant\u2026"),
          element("button", {type: "button", "data-reset": limit.limit,
            onclick: () => this.reset(limit, hash)}, "Reset\u2026"))),
      element("p", {class: "soft small"}, limit.words),
      limit.blocked && message("problem", `Blocked by a penalty since ${when(limit.blocked.since)} UTC, expires in `
        + `${duration(limit.blocked.expires_after)}.`),
      limit.quota !== null && gaugeOf(limit),
      facts(factsOf(limit, this.query.consumer)));
  }

  async reset(limit, hash) {
    replace(this.outcome);
    if (!hasToken() && !(await askForToken())) return;
    const meant = await confirm(`Reset ${limit.consumer} at ${limit.limit}?`, consequencesOf(limit, hash), "Reset");
    if (!meant) return;
    try {
      const {out} = await withToken(() => post("/v1/consumer/reset", {limit: limit.limit, consumer: limit.consumer}));
      replace(this.outcome, message("done", `${limit.consumer} was reset at ${limit.limit}.`,
        out.units > 0 && ` Other nodes may spend ${plural(out.units, "leased unit")} for at most `
          + `${duration(out.expires_after)}.`));
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      replace(this.outcome, message("problem", `Reset failed. ${problem.message}`));
    }
    this.poll.start();
  }
}

// Identifies a button of the results when they are drawn again.
function nameOf(node) {
  if (!node?.dataset) return null;
  const {reset, change, grant} = node.dataset;
  return reset || change || grant ? JSON.stringify([reset, change, grant]) : node.id || null;
}

function verdictOf(limit) {
  if (limit.admitted) return badge(`next request admitted: ${reason(limit.reason)}`, "good");
  return badge(`next request denied: ${reason(limit.reason)}`, "alarm");
}

function gaugeOf(limit) {
  const used = Math.max(0, limit.quota - limit.remaining);
  const drawn = bar([{look: limit.admitted ? "admitted" : "denied", value: used, label: "used"}], limit.quota || 1);
  drawn.classList.add("tall");
  return drawn;
}

function factsOf(limit, typed) {
  if (limit.block) return [["Limit", "not evaluated: an operator blocked this client"]];
  if (limit.quota === null) return [["Limit", "none for this consumer"]];
  const {candidate} = limit;
  return [
    ["Counted as", limit.consumer === typed ? null : code(limit.consumer)],
    ["Remaining", `${count(limit.remaining)} of ${count(limit.quota)}`],
    ["Tier", limit.tier === "default" ? null : limit.tier],
    ["Retry after", limit.admitted || limit.retry_after === null ? null : duration(limit.retry_after)],
    ["Next unit in", limit.more_after === null || limit.remaining >= limit.quota ? null : duration(limit.more_after)],
    ["Full in", limit.reset_after > 0 ? duration(limit.reset_after) : null],
    ["Counted since", limit.since && `${when(limit.since)} UTC`],
    ["Mode", limit.mode === "shadow" ? "shadow: never denies" : null],
    ["Consistency", limit.consistency === "exact" ? null : limit.consistency],
    ["Leased", limit.leased > 0 ? `${plural(limit.leased, "unit")} in ${plural(limit.holders, "slice")}` : null],
    ["Candidate", candidate && `would ${candidate.admitted ? "admit" : "deny"} the next request; `
      + `${count(candidate.remaining)} of ${count(candidate.quota)} remaining`],
  ];
}

function consequencesOf(limit, hash) {
  const spent = count(Math.max(0, limit.quota - limit.remaining));
  const used = limit.quota === null ? "" : `: ${spent} of ${count(limit.quota)} used`;
  return element("ul", {},
    element("li", {}, `Its counter is reset${used}.`),
    limit.blocked && element("li", {}, `Its block is lifted (${duration(limit.blocked.expires_after)} early).`),
    element("li", {}, "Its warnings are cleared."),
    limit.quota !== null && element("li", {}, `${count(limit.quota)} units are available at once.`),
    limit.leased > 0 && element("li", {},
      `Other nodes may still spend the ${plural(limit.leased, "unit")} leased to them.`),
    element("li", {}, "Other consumers and limits are not affected."),
    element("li", {}, "The reset is logged", hash && [" with the hash ", code(hash)], "."),
    element("li", {}, "It cannot be undone."));
}

function othersOf(others) {
  return element("details", {class: "card"},
    element("summary", {}, `${plural(others.length, "limit")} not applicable to this consumer`),
    element("ul", {class: "plain"}, others.map((other) => element("li", {}, limitLink(other.limit), ": ", other.why))));
}
