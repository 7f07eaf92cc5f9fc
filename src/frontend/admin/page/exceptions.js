// Overrides, grants and blocks: the form that makes one, and the list of all, the next to expire first. They are sent in
// the body of a PUT, never in a URL.

import {get, hasToken, put, remove} from "./api.js";
import {askForToken, confirm, withToken} from "./dialogs.js";
import {element, replace} from "./dom.js";
import {when} from "./format.js";
import {badge, code, empty, message, textInput} from "./parts.js";

const KINDS = {
  rate: ["rate", "500/min"], burst: ["burst", "50"], limit: ["limit of the window", "500"], factor: ["factor", "2.5"],
  unlimited: ["unlimited", null], banned: ["banned", null],
};

function termsOf(kind, value) {
  if (kind === "unlimited" || kind === "banned") return {[kind]: true};
  return kind === "factor" ? {factor: Number(value)} : {numbers: {[kind]: value}};
}

// An open form. `done(text)` is called when the server has accepted it.
export class ExceptionForm {
  constructor(done) {
    this.done = done;
    this.node = element("div");
  }

  close() {
    replace(this.node);
  }

  change(limit) {
    const kind = element("select", {id: "exception-kind"},
      Object.entries(KINDS).map(([name, [label]]) => element("option", {value: name}, label)));
    const value = textInput("exception-value", KINDS.rate[1]);
    kind.addEventListener("change", () => {
      value.hidden = KINDS[kind.value][1] === null;
      value.placeholder = KINDS[kind.value][1] ?? "";
    });
    this.open(`Change ${limit.limit} for ${limit.consumer}`, "24h", [
      element("label", {class: "narrow"}, "What", kind), element("label", {class: "narrow"}, "New value", value),
    ], () => ["/v1/overrides", {limit: limit.limit, consumer: limit.consumer, ...termsOf(kind.value, value.value.trim())}]);
  }

  grant(limit) {
    const units = textInput("exception-value", "10000");
    this.open(`Grant ${limit.consumer} more of ${limit.limit} in the current window`, null,
      [element("label", {class: "narrow"}, "Units", units)],
      () => ["/v1/overrides", {limit: limit.limit, consumer: limit.consumer, add: Number(units.value)}]);
  }

  block(identity) {
    this.open(`Block ${identity}`, "1h", [], () => ["/v1/blocks", {identity}]);
  }

  // `lasts` is the suggested duration; null if the exception has none.
  open(title, lasts, fields, request) {
    const time = textInput("exception-for");
    time.value = lasts ?? "";
    const reason = textInput("exception-reason", "why, for the history");
    const failed = element("div");
    const send = async (event) => {
      event.preventDefault();
      replace(failed);
      const [path, body] = request();
      try {
        if (!hasToken() && !(await askForToken())) return;
        await withToken(() => put(path, {...body, ...(lasts && {for: time.value.trim()}), reason: reason.value.trim()}));
        this.close();
        this.done(`${title}: done.`);
      } catch (problem) {
        if (problem.status === undefined) throw problem;
        replace(failed, message("problem", problem.message));
      }
    };
    replace(this.node, element("form", {class: "card form", id: "exception-form", onsubmit: send},
      element("h2", {class: "grow"}, title), fields,
      lasts && element("label", {class: "narrow"}, "For", time), element("label", {class: "grow"}, "Reason", reason),
      element("button", {type: "submit", class: "main"}, "Apply"),
      element("button", {type: "button", onclick: () => this.close()}, "Cancel"), failed));
    this.node.querySelector("select, input").focus();
  }
}

const expiryOf = (record) => record.until ?? "9999";

// All overrides and blocks. Reading them needs a token.
export class ExceptionList {
  constructor(done) {
    this.done = done;
    this.node = element("div");
  }

  async load() {
    if (!hasToken()) return replace(this.node);
    try {
      const [{overrides}, {blocks}] = await Promise.all([get("/v1/overrides"), get("/v1/blocks")]);
      this.draw([...overrides.map((record) => ({...record, path: "/v1/overrides"})),
                 ...blocks.map((record) => ({...record, path: "/v1/blocks"}))]);
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      replace(this.node, problem.wantsToken ? null : message("problem", problem.message));
    }
  }

  draw(records) {
    records.sort((a, b) => (expiryOf(a) < expiryOf(b) ? -1 : 1));
    replace(this.node, element("section", {class: "card", id: "exceptions"},
      element("header", {}, element("h2", {}, "Overrides and blocks")),
      records.length === 0 && empty("None."),
      element("ul", {class: "plain"}, records.map((record) => this.item(record)))));
  }

  item(record) {
    const what = record.identity ? `${record.identity} blocked` : `${record.limit}, ${record.consumer}: ${record.words}`;
    const until = record.permanent ? "permanent" : `until ${when(record.until)} UTC`;
    return element("li", {"data-exception": record.id}, code(record.id), ` ${what}, ${until}; ${record.reason}, by ${record.by} `,
      record.inactive && badge(`inactive: ${record.inactive}`, "warn"),
      element("button", {type: "button", onclick: () => this.remove(record, what)}, "Remove\u2026"));
  }

  async remove(record, what) {
    if (!(await confirm(`Remove ${record.id}?`, element("p", {}, `${what}. The usage of the consumer stays.`), "Remove"))) return;
    try {
      await withToken(() => remove(`${record.path}/${encodeURIComponent(record.id)}`));
      this.done(`${record.id} was removed.`);
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      replace(this.node, message("problem", problem.message));
    }
  }
}
