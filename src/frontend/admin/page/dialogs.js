// The two dialogs: entering a token, and confirming a change.

import {hasToken, setToken} from "./api.js";
import {replace} from "./dom.js";

const byId = (id) => document.getElementById(id);

// Shows a dialog. The promise resolves to its return value, or "" if it was cancelled.
function open(dialog, cancel) {
  dialog.returnValue = "";
  cancel.onclick = () => dialog.close("");
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue), {once: true}));
}

// Resolves to true if the token has changed.
export async function askForToken() {
  const input = byId("token-text");
  input.value = "";
  byId("token-forget").hidden = !hasToken();
  byId("token-forget").onclick = () => byId("token-dialog").close("forget");
  const choice = await open(byId("token-dialog"), byId("token-cancel"));
  const text = input.value;
  input.value = "";
  if (choice === "forget") setToken("");
  else if (choice === "use" && text.trim() !== "") setToken(text);
  else return false;
  document.dispatchEvent(new CustomEvent("token"));
  return true;
}

// Resolves to true if the change is confirmed. `content` describes the change, `go` is the label of the button.
export async function confirm(title, content, go) {
  replace(byId("confirm-title"), title);
  replace(byId("confirm-text"), content);
  replace(byId("confirm-go"), go);
  const answer = open(byId("confirm-dialog"), byId("confirm-cancel"));
  byId("confirm-cancel").focus();
  return (await answer) === "go";
}

// Performs a change, and asks for the token as long as the server rejects it.
export async function withToken(change) {
  for (;;) {
    try {
      return await change();
    } catch (problem) {
      if (!problem.wantsToken || !(await askForToken())) throw problem;
    }
  }
}
