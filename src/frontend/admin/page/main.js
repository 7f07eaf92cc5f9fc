// The entry point: navigation between views, the stream, and the notice when it breaks.

import {hasToken} from "./api.js";
import {ClusterView} from "./cluster.js";
import {ConsumerView} from "./consumer.js";
import {askForToken} from "./dialogs.js";
import {element, replace, setText} from "./dom.js";
import {EventsView} from "./events.js";
import {clock, count, digest, duration, when} from "./format.js";
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

// A view has node, show(argument), hide(), and draw() if it depends on the stream.
const model = new Model();
const views = {
  now: new NowView(model), limits: new LimitsView(), limit: new LimitView(model), consumer: new ConsumerView(),
  try: new TryView(), policy: new PolicyView(), cluster: new ClusterView(), events: new EventsView(model),
};
const nav = byId("nav");
const links = [...nav.querySelectorAll("a")];
let shown = null;

// `#limits/NAME` is the view of one limit. An unknown hash selects the first view.
function currentRoute() {
  const [name, argument] = location.hash.slice(1).split("/", 2);
  if (!(name in TITLES)) return {tab: "now", view: views.now, title: TITLES.now};
  if (name !== "limits" || !argument) return {tab: name, view: views[name], title: TITLES[name]};
  let limit = argument;
  try {
    limit = decodeURIComponent(argument);
  } catch {
    // The name is not percent-encoded, so it is used as it is.
  }
  return {tab: name, view: views.limit, title: limit, argument: limit};
}

function go() {
  const {tab, view, title, argument} = currentRoute();
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

// Arrow keys switch views while the focus is in the navigation. The keys 1 to 7 work everywhere except in input fields.
function onArrowKey(event) {
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
                 ["Policy", digest(status.policy.digest)], ["Limits", count(status.policy.limits)]];
  showRejected(status.last_reload);
  replace(byId("node"), pairs.map(([name, value]) => [element("dt", {}, name), element("dd", {title: value}, value)]));
}

// Says on every view that the files on disk are not what is in effect.
function showRejected(reload) {
  const banner = byId("rejected");
  banner.hidden = !reload || reload.applied;
  if (banner.hidden) return;
  setText(banner.querySelector("span"),
    `Reload rejected at ${when(reload.at)} UTC; the previous configuration stays active: ${reload.error}`);
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
    if (problem.status === undefined) throw problem;  // the stream fails too, and shows the notice
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
    setText(connection.querySelector("span"), WORDS[state]);
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
    showLoss(problem, retryAt);
    if (!problem.wantsToken) countdown = setInterval(() => showLoss(problem, retryAt), 1000);
  }
}

function showLoss(problem, retryAt) {
  const wait = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  const old = lostSince ? ` Showing data from ${clock(lostSince)} UTC.` : "";
  const then = problem.wantsToken ? "" : wait > 0 ? ` Retrying in ${wait} s.` : " Retrying now.";
  const notice = byId("notice");
  notice.hidden = false;
  setText(notice.querySelector("span"), problem.message + old + then);
  const button = notice.querySelector("button");
  setText(button, problem.wantsToken ? "Enter token" : "Retry now");
  button.onclick = () => (problem.wantsToken ? askForToken() : stream.retry());
}

const stream = new Stream("/v1/stream", onEvent, onState);

function onToken() {
  setText(byId("token").querySelector("span"), hasToken() ? "Token: set" : "Token");
  stream.restart();
  shown?.show(currentRoute().argument);
}

startTheme(byId("theme"));
byId("token").addEventListener("click", askForToken);
document.addEventListener("token", onToken);
document.addEventListener("keydown", shortcut);
document.addEventListener("visibilitychange", draw);
nav.addEventListener("keydown", onArrowKey);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();  // the hash selects the view
  byId("view").focus();
});
window.addEventListener("hashchange", go);
go();
stream.run();
