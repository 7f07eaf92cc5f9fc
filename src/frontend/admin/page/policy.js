// The active policy, the changes in the file on disk, and the errors of the last rejected reload.

import {get, hasToken, post} from "./api.js";
import {askForToken, confirm, withToken} from "./dialogs.js";
import {element, redraw, replace} from "./dom.js";
import {count, digest, plural, when} from "./format.js";
import {badge, card, code, empty, facts, head, limitLink, message, problems} from "./parts.js";
import {Poll} from "./poll.js";
import {Table} from "./table.js";
import {algorithm, numbers} from "./words.js";

export class PolicyView {
  constructor() {
    this.outcome = element("div");  // the result of a reload
    this.rejected = element("div");
    this.running = element("div");
    this.onDisk = element("div");
    this.table = rulesetTable();
    this.policy = null;
    this.reloadButton = element("button", {type: "button", onclick: () => this.reload()}, "Reload\u2026");
    this.poll = new Poll(() => Promise.all([get("/v1/policy"), get("/v1/ruleset")]),
      ([policy, ruleset]) => this.take(policy, ruleset), 3000);
    this.node = element("div", {},
      head("Policy", element("span", {class: "right"}, this.reloadButton)), this.poll.problem, this.outcome,
      this.rejected,
      element("div", {class: "columns"},
        card("Active", {width: "half"}, this.running), card("On disk", {width: "half"}, this.onDisk)),
      card("Ruleset", {}, this.table.node));
  }

  show() {
    this.poll.start();
  }

  hide() {
    this.poll.stop();
  }

  take(policy, ruleset) {
    this.policy = policy;
    redraw(this.rejected, [policy.last_rejected, policy.last_reload], () => rejectedOf(policy));
    redraw(this.running, [policy.running, policy.last_reload], () => runningOf(policy));
    redraw(this.onDisk, policy.on_disk, () => onDiskOf(policy.on_disk));
    this.table.draw(ruleset.limits);
  }

  async reload() {
    replace(this.outcome);
    if (!hasToken() && !(await askForToken())) return;
    const meant = await confirm("Reload the configuration?", consequencesOf(this.policy?.on_disk), "Reload");
    if (!meant) return;
    try {
      const done = await withToken(() => post("/v1/reload", {}));
      replace(this.outcome, message("done", "Configuration reloaded, policy digest ",
        code(digest(done.digest)), ".",
        done.restart_needed && ` Changes to ${done.restart_needed} require a restart.`));
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      replace(this.outcome, message("problem", `Reload failed, keeping the current configuration. ${problem.message}`));
    }
    this.poll.start();
  }
}

// A rejected reload is shown as a problem until a later reload succeeds, then only as a caution.
function rejectedOf({last_rejected: rejected, last_reload: last}) {
  if (!rejected) return [];
  const isOver = last?.applied && Date.parse(last.at) >= Date.parse(rejected.at);
  const title = isOver ? "An earlier reload was rejected" : "The last reload was rejected";
  return [element("section", {class: isOver ? "caution" : "problem", id: "rejected"},
    element("p", {}, element("b", {}, title),
      ` at ${when(rejected.at)} UTC`,
      isOver ? "; a later reload succeeded." : ". The previous policy is still active."),
    rejected.problems?.length > 0 ? problems(rejected.problems) : element("p", {}, rejected.error))];
}

function runningOf({running, last_reload: last}) {
  return [
    facts([
      ["File", running.file ? code(running.file) : "none (built-in policy)"],
      ["Set by", running.origin],
      ["Digest", element("code", {title: running.digest}, digest(running.digest))],
      ["Loaded", `${when(running.loaded_at)} UTC`],
      ["Limits", count(running.limits)],
      ["Last reload", last && `${when(last.at)} UTC, ${last.applied ? "succeeded" : "rejected"}`],
    ]),
    element("h3", {}, "Lint"),
    running.warnings.length > 0 ? element("div", {class: "caution"}, problems(running.warnings))
      : element("p", {class: "soft"}, "No warnings."),
  ];
}

const MOODS = {tighter: "alarm", looser: "warn", different: "warn", neutral: null};

function changesOf(disk) {
  return element("ul", {class: "plain"}, disk.changes.map((change) => element("li", {},
    badge(change.direction, MOODS[change.direction]), " ",
    change.subject && [element("b", {}, change.subject), ": "], change.sentence)));
}

function onDiskOf(disk) {
  if (!disk) return [empty("No file: the policy is built in.")];
  const read = element("p", {class: "soft small"}, `Read at ${when(disk.read_at)} UTC`,
    disk.digest && [", digest ", code(digest(disk.digest))], ".");
  if (disk.errors.length > 0) {
    return [element("div", {class: "problem"}, element("p", {}, "A reload would be rejected:"), problems(disk.errors)),
            read];
  }
  const changes = disk.changes.length > 0 ? plural(disk.changes.length, "setting") : "no limits";
  return [
    element("p", {}, disk.same ? "Same as the active policy." : `A reload would change ${changes}.`),
    changesOf(disk),
    disk.warnings.length > 0 && !disk.same
      && [element("h3", {}, "Lint"), element("div", {class: "caution"}, problems(disk.warnings))],
    read,
  ];
}

function consequencesOf(disk) {
  const will = [element("p", {}, "weir.yaml and the policy are reloaded and take effect immediately. If they "
    + "are invalid, nothing changes.")];
  if (disk?.errors.length > 0) {
    will.push(element("p", {}, "The current files would be rejected."), problems(disk.errors));
  } else if (disk?.changes.length > 0) {
    will.push(changesOf(disk));
  } else if (disk?.same) {
    will.push(element("p", {}, "The policy on disk is the active one."));
  }
  will.push(element("p", {class: "soft"}, "Counters are kept; no consumer gets a new burst."));
  return will;
}

function rulesetTable() {
  return new Table({
    title: "Ruleset", key: (limit) => limit.name, empty: "The policy has no limits: all requests pass.",
    columns: [
      {id: "name", title: "Limit", draw: (cell, limit) => redraw(cell, [limit.name, limit.mode], () => [
        limitLink(limit.name), limit.mode === "shadow" && element("span", {class: "badges"}, badge("shadow"))])},
      {id: "numbers", title: "Numbers", text: (limit) => numbers(limit.numbers)},
      {id: "algorithm", title: "Algorithm", wide: true, text: (limit) => algorithm(limit.algorithm)},
      {id: "key", title: "Key", text: (limit) => limit.consumer_key ?? "descriptor"},
      {id: "routes", title: "Applies to", wide: true,
       text: (limit) => (limit.domain ? `domain ${limit.domain}` : limit.routes.join(", ") || "every request")},
      {id: "when", title: "When", wide: true, text: (limit) => limit.when ?? "always"},
      {id: "missing", title: "Without a key", wide: true, text: (limit) => limit.missing},
      {id: "candidate", title: "Candidate", wide: true,
       text: (limit) => (limit.candidate ? numbers(limit.candidate.numbers) : "")},
    ],
  });
}
