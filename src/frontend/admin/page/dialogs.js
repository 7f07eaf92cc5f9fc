// The two questions that the page asks: for the token, and whether a change is meant.

import {hasToken, setToken} from "./api.js";
import {replace} from "./dom.js";

const byId = (id) => document.getElementById(id);

// Shows a dialog; the promise gives what it was closed with, "" if it was left.
function open(dialog, cancel) {
  dialog.returnValue = "";
  cancel.onclick = () => dialog.close("");
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue), {once: true}));
}

// Whether another token is in use now.
export async function askForToken() {
  const input = byId("token-text");
  input.value = "";
  byId("token-forget").hidden = !hasToken();
  byId("token-forget").onclick = () => byId("token-dialog").close("forget");
  const said = await open(byId("token-dialog"), byId("token-cancel"));
  const text = input.value;
  input.value = "";
  if (said === "forget") setToken("");
  else if (said === "use" && text.trim() !== "") setToken(text);
  else return false;
  document.dispatchEvent(new CustomEvent("token"));
  return true;
}

// Whether it is meant. `content` says what will happen; `go` is what the button says.
export async function confirm(title, content, go) {
  replace(byId("confirm-title"), title);
  replace(byId("confirm-text"), content);
  replace(byId("confirm-go"), go);
  const answer = open(byId("confirm-dialog"), byId("confirm-cancel"));
  byId("confirm-cancel").focus();
  return (await answer) === "go";
}

// Does something that may need the token, and asks for it as often as the server does.
export async function withToken(change) {
  for (;;) {
    try {
      return await change();
    } catch (problem) {
      if (!problem.wantsToken || !(await askForToken())) throw problem;
    }
  }
}
