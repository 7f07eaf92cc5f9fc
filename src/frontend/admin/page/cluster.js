// This node and the store that it shares with others.

import {get} from "./api.js";
import {element, redraw, replace} from "./dom.js";
import {bytes, count, digest, latency, plural, short, when} from "./format.js";
import {bar, Histogram} from "./marks.js";
import {badge, card, code, empty, facts, head, legend, limitLink, message, Tile} from "./parts.js";
import {Poll} from "./poll.js";
import {Table} from "./table.js";
import {PATHS, storeWords} from "./words.js";

export class ClusterView {
  constructor() {
    this.remark = element("p", {class: "soft"});
    this.alone = card("Store", {}, empty("State is in the memory of this process and is not shared with other nodes. "
      + "To share limits through Redis, set store in weir.yaml."));
    this.shared = new SharedStore();
    this.self = element("div");
    this.listeners = listenersTable();
    this.poll = new Poll(() => Promise.all([get("/v1/cluster"), get("/v1/status")]),
      ([cluster, status]) => this.take(cluster, status), 2000);
    this.node = element("div", {}, head("Cluster", this.remark), this.poll.problem, this.alone, this.shared.node,
      element("div", {class: "columns"}, card("This node", {width: "half"}, this.self),
        card("Listeners", {width: "half"}, this.listeners.node)));
  }

  show() {
    this.poll.start();
  }

  hide() {
    this.poll.stop();
  }

  take(cluster, status) {
    const {store} = cluster;
    this.alone.hidden = store !== null;
    this.shared.node.hidden = store === null;
    replace(this.remark, store ? `${plural(store.nodes, "node")} through ${store.kind}` : "single node");
    if (store) this.shared.draw(store);
    redraw(this.self, [cluster.node, status.started_at, status.state, status.last_snapshot],
      () => [selfOf(cluster.node, status)]);
    this.listeners.draw(status.listeners);
  }
}

class SharedStore {
  constructor() {
    this.tiles = {
      state: new Tile("Store"), trip: new Tile("Round trip, median"), batch: new Tile("Decisions per batch, mean"),
      nodes: new Tile("Nodes"), opened: new Tile("Breaker opened"),
    };
    this.warning = element("div");
    this.nodes = nodesTable();
    this.paths = element("div");
    this.trips = new Histogram("Round trips to the store");
    this.batches = new Histogram("Decisions per batch");
    this.slices = slicesTable();
    this.topology = element("div");
    this.node = element("div", {hidden: true}, this.warning,
      element("div", {class: "tiles"}, Object.values(this.tiles).map((tile) => tile.node)),
      element("div", {class: "columns"},
        card("Nodes", {width: "half", note: "heartbeat once per second"}, this.nodes.node),
        card("Decisions by path", {width: "half", note: "since startup"}, this.paths),
        card("Round trips", {width: "half", note: "since startup"}, this.trips.node),
        card("Batch sizes", {width: "half", note: "since startup"}, this.batches.node),
        card("Topology", {width: "half"}, this.topology),
        card("Slices", {width: "half", note: "units of leased and approximate limits that this node holds"},
          this.slices.node)));
  }

  draw(store) {
    const {tiles} = this;
    const [word, remark, mood] = storeWords(store.breaker);
    tiles.state.set(word, store.unavailable_since ? `since ${when(store.unavailable_since)} UTC` : remark, mood);
    tiles.trip.set(latency(store.round_trip.p50), `99 %: ${latency(store.round_trip.p99)}`);
    tiles.batch.set(short(store.batch_size.mean), `99 %: ${short(store.batch_size.p99)}`);
    const differing = store.heartbeats.filter((node) => node.differs);
    if (differing.length > 0) {
      tiles.nodes.set(count(store.nodes), `${plural(differing.length, "node")} with a different policy`, "alarm");
    } else {
      tiles.nodes.set(count(store.nodes), "all with the same policy");
    }
    tiles.opened.set(count(store.opened), "times since startup", store.opened > 0 ? "warn" : null);
    const names = differing.map((node) => node.name).join(", ");
    redraw(this.warning, names, () => [names && message("problem",
      `Nodes with a different policy: ${names}. They use other rules until the policies match.`)]);
    this.nodes.draw(store.heartbeats);
    redraw(this.paths, store.decisions, () => pathsOf(store.decisions));
    this.trips.draw(barsOf(store.round_trip, latency), () => "admitted");
    this.batches.draw(barsOf(store.batch_size, short), () => "admitted");
    redraw(this.topology, [store.urls, store.connected, store.last_error, store.errors, store.holder],
      () => [topologyOf(store)]);
    this.slices.draw(store.slices);
  }
}

// Leaves out empty bars at both ends.
function barsOf({bounds, counts}, show) {
  const label = (i) => (i < bounds.length ? `\u2264 ${show(bounds[i])}` : `> ${show(bounds.at(-1))}`);
  const all = counts.map((value, i) => ({value, label: label(i)}));
  const first = Math.max(0, all.findIndex((each) => each.value > 0));
  const last = all.findLastIndex((each) => each.value > 0);
  return all.slice(Math.max(0, first - 1), Math.max(first + 4, last + 2));
}

function pathsOf(decisions) {
  const parts = Object.entries(decisions).map(([path, value]) => {
    const [label, look] = PATHS[path] ?? [path, "rest"];
    return {label, look, value};
  });
  if (parts.every((part) => part.value === 0)) return [empty("No decisions yet.")];
  const drawn = bar(parts);
  drawn.classList.add("tall");
  return [drawn, legend(parts.map((part) => ({...part, text: count(part.value)})))];
}

function topologyOf(store) {
  const errors = Object.entries(store.errors).filter(([, number]) => number > 0)
    .map(([kind, number]) => `${kind.replaceAll("_", " ")}: ${count(number)}`);
  return facts([
    ["Kind", `${store.kind}, ${store.topology}`],
    ["Servers", element("span", {"data-tone": store.connected < store.servers ? "alarm" : null},
      `${count(store.connected)} of ${count(store.servers)} connected`)],
    ["Addresses", store.urls.map((url) => element("div", {}, code(url)))],
    ["Holder name", store.holder && code(store.holder)],
    ["Errors", errors.join(", ") || "none"],
    ["Last error", store.last_error && `${when(store.last_error.at)} UTC: ${store.last_error.error}`],
  ]);
}

function selfOf(node, status) {
  const snapshot = status.last_snapshot;
  return facts([
    ["Version", node.version],
    ["Policy", element("code", {title: node.digest}, digest(node.digest))],
    ["Started", `${when(status.started_at)} UTC`],
    ["State directory", status.state.directory ? code(status.state.directory) : "none: state is lost at a restart"],
    ["Last snapshot", snapshot && `${when(snapshot.at)} UTC${snapshot.error ? `: ${snapshot.error}` : ""}`],
    ["State memory", `${bytes(status.memory.used)} of ${bytes(status.memory.budget)}`],
  ]);
}

function nodesTable() {
  return new Table({
    title: "Nodes", key: (node) => node.name, empty: "No heartbeats yet.",
    columns: [
      {id: "name", title: "Node", draw: (cell, node) => redraw(cell, [node.name, node.self, node.differs], () => [
        element("span", {class: "dot inline", "data-tone": node.differs ? "alarm" : "good"}), " ", node.name, " ",
        node.self && badge("this node"), node.differs && badge("different policy", "alarm")])},
      {id: "policy", title: "Policy", draw: (cell, node) =>
        redraw(cell, node.policy, () => [code(digest(node.policy))]),
       tone: (node) => (node.differs ? "alarm" : null)},
      {id: "version", title: "Version", wide: true, text: (node) => node.version},
      {id: "heard", title: "Last seen", number: true, text: (node) => `${node.last_seen_ago.toFixed(1)} s ago`},
    ],
  });
}

function slicesTable() {
  return new Table({
    title: "Slices", key: (each) => each.limit, empty: "This node holds no slices.",
    columns: [
      {id: "limit", title: "Limit", draw: (cell, each) => redraw(cell, each.limit, () => [limitLink(each.limit)])},
      {id: "slices", title: "Slices", number: true, text: (each) => count(each.slices)},
      {id: "units", title: "Units", number: true, text: (each) => count(each.units)},
    ],
  });
}

function listenersTable() {
  return new Table({
    title: "Listeners", key: (each) => each.name, empty: "No listeners.",
    columns: [
      {id: "name", title: "Listener", text: (each) => each.name},
      {id: "listen", title: "Address", draw: (cell, each) =>
        redraw(cell, each.listen, () => each.listen.map((address) => element("div", {}, code(address))))},
      {id: "connections", title: "Connections", number: true, text: (each) => count(each.connections)},
    ],
  });
}
