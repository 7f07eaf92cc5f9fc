// Explains which limits of the active policy apply to a request, and why. Charges nothing.

import {post} from "./api.js";
import {element, replace} from "./dom.js";
import {count} from "./format.js";
import {badge, card, code, empty, facts, head, limitLink, message, textInput} from "./parts.js";
import {Table} from "./table.js";
import {algorithm} from "./words.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

function field(label, width, input) {
  return element("label", {class: width}, label, input);
}

export class TryView {
  constructor() {
    this.method = element("select", {id: "try-method"}, METHODS.map((name) => element("option", {}, name)));
    this.path = textInput("try-path", "/orders?id=7");
    this.path.required = true;
    this.ip = textInput("try-ip", "127.0.0.1");
    this.user = textInput("try-user");
    this.apiKey = textInput("try-key");
    this.tier = textInput("try-tier");
    this.cost = element("input", {id: "try-cost", type: "number", min: "0", placeholder: "1"});
    this.headers = element("textarea", {
      id: "try-headers", spellcheck: "false", placeholder: "X-User-Id: alice\nX-Forwarded-For: 203.0.113.7"});
    this.results = element("div", {"aria-live": "polite"}, empty(
      "Shows which limits of the active policy apply to the request. Charges nothing."));
    this.node = element("div", {},
      head("Try a request", element("p", {class: "soft"}, "Like weir explain, with the active policy.")),
      element("form", {class: "card", onsubmit: (event) => this.ask(event)},
        element("div", {class: "form"},
          field("Method", "narrow", this.method), field("Path", "grow", this.path),
          field("Sender address", "grow", this.ip)),
        element("div", {class: "form below"},
          field("User", "narrow grow", this.user), field("API key", "narrow grow", this.apiKey),
          field("Tier", "narrow", this.tier), field("Cost", "narrow", this.cost)),
        field("Headers, one per line", "below", this.headers),
        element("div", {class: "actions"}, element("button", {type: "submit", class: "main"}, "Explain"))),
      this.results);
  }

  show() {}

  hide() {}

  async ask(event) {
    event.preventDefault();
    let request;
    try {
      request = this.readRequest();
      replace(this.results, resultOf(await post("/v1/explain", request)));
    } catch (problem) {
      if (request && problem.status === undefined) throw problem;
      replace(this.results, message("problem", problem.message));
    }
  }

  readRequest() {
    const request = {method: this.method.value, path: this.path.value.trim(), headers: headersOf(this.headers.value)};
    const optional = {ip: this.ip, user: this.user, api_key: this.apiKey, tier: this.tier};
    for (const [name, input] of Object.entries(optional)) {
      if (input.value.trim()) request[name] = input.value.trim();
    }
    if (this.cost.value !== "") request.cost = Number(this.cost.value);
    return request;
  }
}

function headersOf(lines) {
  const headers = Object.create(null);
  lines.split("\n").forEach((line, i) => {
    if (line.trim() === "") return;
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error(`Line ${i + 1} of the headers is not NAME: VALUE.`);
    const name = line.slice(0, colon).trim();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? [].concat(headers[name], value) : value;
  });
  return headers;
}

function resultOf({request, caller, limits}) {
  const covering = limits.filter((limit) => limit.covers);
  const others = limits.filter((limit) => !limit.covers);
  const table = coveringTable();
  table.draw(covering);
  return element("div", {class: "columns"},
    card("Applying limits", {width: "two-thirds", note: `${count(covering.length)} of ${count(limits.length)}`},
      table.node, others.length > 0 && othersOf(others)),
    card("Caller", {width: "third last"}, facts([
      ["Request", code(`${request.method} ${request.target}`)],
      ["Route", request.route],
      ["Address", caller.address],
      ["Sent by", caller.sender === caller.address && caller.sender_is_trusted === false ? null
        : `${caller.sender}, ${caller.sender_is_trusted ? "a trusted proxy" : "not a trusted proxy"}`],
      ["User", caller.user],
      ["API key", caller.api_key],
      ...Object.entries(caller.identities ?? {}),
      ["Authenticated", caller.authenticated ? "yes" : "no"],
      ["Tier", caller.tier_is_unknown ? `${caller.tier} (the requested tier is unknown)` : caller.tier],
      ["Headers ignored", caller.ignored_headers.length > 0
        ? `${caller.ignored_headers.join(", ")}: accepted from trusted proxies only` : null],
    ])));
}

function othersOf(others) {
  return [element("h3", {}, "Other limits"), element("ul", {class: "plain"}, others.map((limit) =>
    element("li", {}, limitLink(limit.name), " ", limit.banned && badge("always denies", "alarm"), " ",
      element("span", {class: "soft"}, limit.why_not))))];
}

function numbersText(limit) {
  return typeof limit.numbers === "string" ? limit.numbers : limit.numbers.text;
}

function coveringTable() {
  return new Table({
    title: "Applying limits", key: (limit) => limit.name, empty: "No limit applies: the request passes.",
    columns: [
      {id: "name", title: "Limit", draw: (cell, limit) => replace(cell, limitLink(limit.name),
        limit.mode === "shadow" && element("span", {class: "badges"}, badge("shadow")),
        element("small", {}, limit.route || "every request"))},
      {id: "numbers", title: "Numbers", draw: (cell, limit) => replace(cell, numbersText(limit),
        limit.numbers?.algorithm && element("small", {}, algorithm(limit.numbers.algorithm)))},
      {id: "consumer", title: "Consumer", draw: (cell, limit) => replace(cell, code(limit.consumer))},
      {id: "cost", title: "Cost", number: true, text: (limit) => count(limit.cost)},
      {id: "consistency", title: "Consistency", wide: true, text: (limit) => limit.consistency?.decided ?? ""},
    ],
  });
}
