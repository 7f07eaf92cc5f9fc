// Brings it together: the views and the way between them, the stream, what is said when it breaks.

import {hasToken} from "./api.js";
import {ClusterView} from "./cluster.js";
import {ConsumerView} from "./consumer.js";
import {askForToken} from "./dialogs.js";
import {element, replace, say} from "./dom.js";
import {EventsView} from "./events.js";
import {clock, digest, duration} from "./format.js";
import {LimitView} from "./limit.js";
import {LimitsView} from "./limits.js";
import {Model} from "./model.js";
import {NowView} from "./now.js";
import {PolicyView} from "./policy.js";
import {Stream} from "./stream.js";
import {startTheme} from "./theme.js";
import {TryView} from "./try.js";

const byId = (id) => document.getElementById(id);
const TITLES = {now: "Now", limits: "Limits", consumer: "Consumer", try: "Try a request", policy: "Policy",
                cluster: "Cluster", events: "Events"};
const STATUS_EVERY = 30;  // seconds

// A view has node, show(argument), hide(), and draw() if the stream changes what it shows.
const model = new Model();
const views = {
  now: new NowView(model), limits: new LimitsView(), limit: new LimitView(model), consumer: new ConsumerView(),
  try: new TryView(), policy: new PolicyView(), cluster: new ClusterView(), events: new EventsView(model),
};
const nav = byId("nav");
const links = [...nav.querySelectorAll("a")];
let shown = null;

// `#limits/NAME` is a limit's own view. What cannot be read is the first view.
function place() {
  const [name, argument] = location.hash.slice(1).split("/", 2);
  if (!(name in TITLES)) return {tab: "now", view: views.now, title: TITLES.now};
  if (name !== "limits" || !argument) return {tab: name, view: views[name], title: TITLES[name]};
  let limit = argument;
  try {
    limit = decodeURIComponent(argument);
  } catch {
    // A % that was typed by hand: the name as it stands.
  }
  return {tab: name, view: views.limit, title: limit, argument: limit};
}

function go() {
  const {tab, view, title, argument} = place();
  shown?.hide();
  const isAnother = shown !== view;
  shown = view;
  for (const link of links) {
    if (link.dataset.view === tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    link.tabIndex = link.dataset.view === tab ? 0 : -1;
  }
  document.title = `${title} \u00b7 Weir`;
  if (isAnother) {
    replace(byId("view"), view.node);
    window.scrollTo(0, 0);
  }
  view.show(argument);
}

// Arrow keys go from view to view while the focus is in their list; 1 to 7 from everywhere but fields.
function walk(event) {
  const at = links.indexOf(document.activeElement);
  const to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: -1}[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const link = links.at(to % links.length);
  link.focus();
  location.hash = link.dataset.view;
}

function shortcut(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea, select, dialog")) return;
  const link = links[Number(event.key) - 1];
  if (link) location.hash = link.dataset.view;
}

function drawNode() {
  const {status} = model;
  if (!status) return;
  const up = Math.max(1, (model.now - Date.parse(status.started_at)) / 1000);
  const pairs = [["Version", status.version], ["Up", duration(up)],
                 ["Policy", digest(status.policy.digest)], ["Limits", String(status.policy.limits)]];
  replace(byId("node"), pairs.map(([name, value]) => [element("dt", {}, name), element("dd", {title: value}, value)]));
}

function draw() {
  if (document.hidden) return;
  drawNode();
  shown?.draw?.();
}

async function load() {
  try {
    await model.load();
    if (shown === views.limit) views.limit.loadHistory();
    draw();
  } catch (problem) {
    if (problem.status === undefined) throw problem;  // otherwise the stream breaks as well, and says so
  }
}

let seconds = 0;
function onEvent(name, value) {
  if (name !== "second") return;
  model.take(value);
  views.limit.second(value);
  if (value.events.length > 0 && shown === views.policy) views.policy.poll.start();
  if (value.events.length > 0 || ++seconds % STATUS_EVERY === 0) model.loadStatus().then(drawNode, () => {});
  draw();
}

const WORDS = {connecting: "Connecting", live: "Live", lost: "Disconnected", paused: "Paused"};
let lostSince = null;
let countdown = 0;

function onState(state, problem, retryAt) {
  const connection = byId("connection");
  if (state !== "connecting" || lostSince === null) {
    connection.dataset.state = state;
    say(connection.querySelector("span"), WORDS[state]);
  }
  clearInterval(countdown);
  if (state === "live") {
    lostSince = null;
    byId("notice").hidden = true;
    byId("view").removeAttribute("data-stale");
    load();
  } else if (state === "lost") {
    lostSince ??= model.second ? model.now : 0;
    byId("view").dataset.stale = "";
    tellLoss(problem, retryAt);
    if (!problem.wantsToken) countdown = setInterval(() => tellLoss(problem, retryAt), 1000);
  }
}

function tellLoss(problem, retryAt) {
  const wait = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  const old = lostSince ? ` What is shown is from ${clock(lostSince)} UTC.` : "";
  const then = problem.wantsToken ? "" : wait > 0 ? ` Trying again in ${wait} s.` : " Trying again now.";
  const notice = byId("notice");
  notice.hidden = false;
  say(notice.querySelector("span"), problem.message + old + then);
  const button = notice.querySelector("button");
  say(button, problem.wantsToken ? "Enter the token" : "Try now");
  button.onclick = () => (problem.wantsToken ? askForToken() : stream.retry());
}

const stream = new Stream("/v1/stream", onEvent, onState);

function onToken() {
  say(byId("token").querySelector("span"), hasToken() ? "Token: in use" : "Token");
  stream.restart();
  shown?.show(place().argument);
}

startTheme(byId("theme"));
byId("token").addEventListener("click", askForToken);
document.addEventListener("token", onToken);
document.addEventListener("keydown", shortcut);
document.addEventListener("visibilitychange", draw);
nav.addEventListener("keydown", walk);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();  // the address says which view is shown
  byId("view").focus();
});
window.addEventListener("hashchange", go);
go();
stream.run();
