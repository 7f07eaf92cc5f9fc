// Building blocks of the views.

import {element, replace, setText, tone} from "./dom.js";

export function head(title, ...more) {
  return element("div", {class: "head"}, element("h1", {}, title), more);
}

export function card(title, {width = "", note = null, right = null} = {}, ...content) {
  return element("section", {class: `card ${width}`},
    element("header", {}, element("h2", {}, title), note && element("span", {class: "soft small"}, note),
      right && element("span", {class: "right small"}, right)),
    content);
}

// A number with its name above and a remark below.
export class Tile {
  constructor(name, hint = null) {
    this.name = element("span", {}, name);
    this.value = element("b");
    this.note = element("span");
    this.mark = element("div");
    this.node = element("div", {class: "tile", title: hint, "data-tile": name},
      this.name, this.value, this.note, this.mark);
  }

  rename(name) {
    setText(this.name, name);
    this.node.dataset.tile = name;
  }

  set(value, note = "", mood = null, mark = null) {
    setText(this.value, value);
    setText(this.note, note);
    tone(this.node, mood);
    if (mark) replace(this.mark, mark);
  }
}

export function badge(text, mood = null, hint = null) {
  return element("span", {class: "badge", "data-tone": mood, title: hint}, text);
}

// pairs: [[name, value], ...]. A value may be an element; null values are left out.
export function facts(pairs) {
  const present = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return element("dl", {class: "facts"},
    present.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

export function code(text) {
  return element("code", {}, text);
}

// A list of errors or warnings with their positions.
export function problems(list) {
  return element("ul", {class: "plain"}, list.map((each) => element("li", {},
    each.line ? [code(`${each.file ? `${each.file}:` : ""}${each.line}:${each.column}`), " "] : null, each.message)));
}

export function empty(text) {
  return element("p", {class: "empty"}, text);
}

// A message; look is problem, done or caution.
export function message(look, ...content) {
  return element("div", {class: look, role: look === "problem" ? "alert" : "status"}, element("p", {}, content));
}

// A legend of parts with their numbers: [{look, label, text}].
export function legend(parts) {
  return element("div", {class: "legend"}, parts.map((part) =>
    element("span", {}, element("i", {class: `key ${part.look}`}), part.label, " ", element("b", {}, part.text))));
}

// An input for private data, which the browser does not remember.
export function textInput(id, placeholder = "") {
  return element("input", {id, placeholder, autocomplete: "off", spellcheck: "false", autocapitalize: "off"});
}

export function limitLink(name) {
  return element("a", {href: `#limits/${encodeURIComponent(name)}`}, name);
}
