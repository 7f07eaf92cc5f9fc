// Asks the server. The token is kept here, in memory, and nowhere else: it is gone when the page is.

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

// What a refused or failed request says, in the server's words where it has any.
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
    // It has no body that can be read: the status has to do.
  }
  return new Problem(response.status, detail || `The server answered ${response.status}.`);
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, {cache: "no-store", credentials: "omit", redirect: "error", ...options});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server cannot be reached. It may be restarting.");
  }
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

export function get(path) {
  return ask(path, {headers: headers()});
}

export function post(path, body) {
  return ask(path, {
    method: "POST",
    headers: headers({"Content-Type": "application/json"}),
    body: JSON.stringify(body),
  });
}
