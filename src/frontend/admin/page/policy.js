// The policy that is in force, what the file on disk would change, and why the last reload was refused.

import {get, hasToken, post} from "./api.js";
import {askForToken, confirm, withToken} from "./dialogs.js";
import {element, redraw, replace} from "./dom.js";
import {digest, plural, when} from "./format.js";
import {badge, card, code, empty, facts, head, limitLink, message, problems} from "./parts.js";
import {Poll} from "./poll.js";
import {Table} from "./table.js";
import {algorithm, numbers} from "./words.js";

export class PolicyView {
  constructor() {
    this.came = element("div");  // of a reload
    this.refused = element("div");
    this.running = element("div");
    this.onDisk = element("div");
    this.table = rulesetTable();
    this.policy = null;
    this.reloadButton = element("button", {type: "button", onclick: () => this.reload()}, "Reload\u2026");
    this.poll = new Poll(() => Promise.all([get("/v1/policy"), get("/v1/ruleset")]),
      ([policy, ruleset]) => this.take(policy, ruleset), 3000);
    this.node = element("div", {},
      head("Policy", element("span", {class: "right"}, this.reloadButton)), this.poll.problem, this.came, this.refused,
      element("div", {class: "columns"},
        card("In force", {width: "half"}, this.running), card("On disk", {width: "half"}, this.onDisk)),
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
    redraw(this.refused, [policy.last_rejected, policy.last_reload], () => refusedOf(policy));
    redraw(this.running, [policy.running, policy.last_reload], () => runningOf(policy));
    redraw(this.onDisk, policy.on_disk, () => onDiskOf(policy.on_disk));
    this.table.draw(ruleset.limits);
  }

  async reload() {
    replace(this.came);
    if (!hasToken() && !(await askForToken())) return;
    const meant = await confirm("Read the files again?", whatWillHappen(this.policy?.on_disk), "Reload");
    if (!meant) return;
    try {
      const done = await withToken(() => post("/v1/reload", {}));
      replace(this.came, message("done", "The files were read again and are in force, digest ",
        code(digest(done.digest)), ".", done.restart_needed && ` Changes to ${done.restart_needed} need a restart.`));
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      replace(this.came, message("problem", `Nothing has changed. ${problem.message}`));
    }
    this.poll.start();
  }
}

// Told as long as no later reload took effect, and more quietly after that.
function refusedOf({last_rejected: refused, last_reload: last}) {
  if (!refused) return [];
  const isOver = last?.applied && Date.parse(last.at) >= Date.parse(refused.at);
  const title = isOver ? "An earlier reload was refused" : "The last reload was refused";
  return [element("section", {class: isOver ? "caution" : "problem", id: "refused"},
    element("p", {}, element("b", {}, title),
      ` at ${when(refused.at)} UTC`,
      isOver ? "; a later one took effect." : ". The policy before it is still in force."),
    refused.problems?.length > 0 ? problems(refused.problems) : element("p", {}, refused.error))];
}

function runningOf({running, last_reload: last}) {
  return [
    facts([
      ["File", running.file ? code(running.file) : "none: the policy that is built in"],
      ["Named by", running.origin],
      ["Digest", element("code", {title: running.digest}, digest(running.digest))],
      ["Loaded", `${when(running.loaded_at)} UTC`],
      ["Limits", String(running.limits)],
      ["Last reload", last && `${when(last.at)} UTC, ${last.applied ? "took effect" : "refused"}`],
    ]),
    element("h3", {}, "Lint"),
    running.warnings.length > 0 ? element("div", {class: "caution"}, problems(running.warnings))
      : element("p", {class: "soft"}, "It has no warnings."),
  ];
}

const MOODS = {tighter: "alarm", looser: "warn", different: "warn", neutral: null};

function changesOf(disk) {
  return element("ul", {class: "plain"}, disk.changes.map((change) => element("li", {},
    badge(change.direction, MOODS[change.direction]), " ",
    change.subject && [element("b", {}, change.subject), ": "], change.sentence)));
}

function onDiskOf(disk) {
  if (!disk) return [empty("There is no file: the policy is built in.")];
  const read = element("p", {class: "soft small"}, `Read at ${when(disk.read_at)} UTC`,
    disk.digest && [", digest ", code(digest(disk.digest))], ".");
  if (disk.errors.length > 0) {
    return [element("div", {class: "problem"}, element("p", {}, "A reload would be refused:"), problems(disk.errors)),
            read];
  }
  const changes = disk.changes.length > 0 ? plural(disk.changes.length, "thing") : "nothing that decides";
  return [
    element("p", {}, disk.same ? "The same as the one in force." : `A reload would change ${changes}.`),
    changesOf(disk),
    disk.warnings.length > 0 && !disk.same
      && [element("h3", {}, "Lint"), element("div", {class: "caution"}, problems(disk.warnings))],
    read,
  ];
}

function whatWillHappen(disk) {
  const will = [element("p", {}, "weir.yaml and the policy are read again. If they are right they are in force at "
    + "once; if not, nothing changes.")];
  if (disk?.errors.length > 0) {
    will.push(element("p", {}, "As they are now, they would be refused."), problems(disk.errors));
  } else if (disk?.changes.length > 0) {
    will.push(changesOf(disk));
  } else if (disk?.same) {
    will.push(element("p", {}, "The policy on disk is the one that is in force."));
  }
  will.push(element("p", {class: "soft"}, "What was counted stays; nobody gets a fresh burst from a change."));
  return will;
}

function rulesetTable() {
  return new Table({
    title: "Ruleset", key: (limit) => limit.name, empty: "The policy has no limits: everything passes.",
    columns: [
      {id: "name", title: "Limit", draw: (cell, limit) => redraw(cell, [limit.name, limit.mode], () => [
        limitLink(limit.name), limit.mode === "shadow" && element("span", {class: "badges"}, badge("shadow"))])},
      {id: "numbers", title: "Numbers", text: (limit) => numbers(limit.numbers)},
      {id: "algorithm", title: "Algorithm", wide: true, text: (limit) => algorithm(limit.algorithm)},
      {id: "key", title: "Counted by", text: (limit) => limit.consumer_key ?? "descriptor"},
      {id: "routes", title: "On", wide: true,
       text: (limit) => (limit.domain ? `domain ${limit.domain}` : limit.routes.join(", ") || "every request")},
      {id: "when", title: "When", wide: true, text: (limit) => limit.when ?? "always"},
      {id: "missing", title: "Without a key", wide: true, text: (limit) => limit.missing},
      {id: "candidate", title: "Candidate", wide: true,
       text: (limit) => (limit.candidate ? numbers(limit.candidate.numbers) : "")},
    ],
  });
}
