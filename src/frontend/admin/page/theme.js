// The light or dark theme: the system's, unless the user selects one. Only this choice is stored in the browser.

const KEY = "weir.theme";
const NAMES = {system: "Theme: system", light: "Theme: light", dark: "Theme: dark"};

function read() {
  try {
    return localStorage.getItem(KEY) ?? "system";
  } catch {
    return "system";  // storage is disabled
  }
}

function apply(theme, button) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.querySelector("span").textContent = NAMES[theme];
  button.title = NAMES[theme];
}

export function startTheme(button) {
  let theme = read() in NAMES ? read() : "system";
  apply(theme, button);
  button.addEventListener("click", () => {
    const names = Object.keys(NAMES);
    theme = names[(names.indexOf(theme) + 1) % names.length];
    apply(theme, button);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Storage is disabled: the choice lasts until the page is closed.
    }
  });
}
