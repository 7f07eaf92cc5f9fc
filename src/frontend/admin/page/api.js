// Requests to the server. The token is kept in this module's memory and nowhere else.

let token = "";

export function setToken(text) {
  token = text.trim();
}

export function hasToken() {
  return token !== "";
}

export function headers(more = {}) {
  return token ? {...more, "X-Weir-Token": token} : more;
}

// A failed request. The message is the server's, if it sent one.
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }

  get wantsToken() {
    return this.status === 401 || (this.status === 403 && hasToken() && !/has no admin token/.test(this.message));
  }
}

export async function problemOf(response) {
  let detail = "";
  try {
    const problem = await response.json();
    detail = problem.detail || problem.title || "";
  } catch {
    // Without a readable body, the message names the status.
  }
  return new Problem(response.status, detail || `The server answered ${response.status}.`);
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, {cache: "no-store", credentials: "omit", redirect: "error", ...options});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server is unreachable. It may be restarting.");
  }
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

export function get(path) {
  return ask(path, {headers: headers()});
}

function send(method, path, body) {
  return ask(path, {method, headers: headers({"Content-Type": "application/json"}), body: JSON.stringify(body)});
}

export function post(path, body) {
  return send("POST", path, body);
}

export function put(path, body) {
  return send("PUT", path, body);
}

export function remove(path) {
  return ask(path, {method: "DELETE", headers: headers()});
}
