// Builds elements. Text is never parsed as markup, here or elsewhere on the page.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

// element("p", {class: "soft"}, "text", node, ...). An attribute `onclick` is a function; null and false are left out.
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function replace(node, ...children) {
  node.replaceChildren();
  add(node, children);
}

// Replaces the children with those of make() if the key has changed. Unchanged elements keep their focus.
export function redraw(node, key, make) {
  const text = JSON.stringify(key);
  if (node.dataset.key === text) return;
  node.dataset.key = text;
  replace(node, make());
}

// Sets the text if it has changed, so that unchanged text is not painted or read out again.
export function setText(node, text) {
  const wanted = text === null || text === undefined ? "" : String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

export function tone(node, name) {
  if (!name) node.removeAttribute("data-tone");
  else if (node.dataset.tone !== name) node.dataset.tone = name;
}
