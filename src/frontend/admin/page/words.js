// The server's names for states and kinds, in words and moods.

// Of the store: [word, remark, mood].
export function storeWords(state) {
  switch (state) {
    case "local": return ["Local", "states are in this process", null];
    case "closed": return ["Connected", "breaker closed", null];
    case "half_open": return ["Being tried", "breaker half open", "warn"];
    case "open": return ["Away", "breaker open", "alarm"];
    default: return [state ?? "Unknown", "", null];
  }
}

export function algorithm(name) {
  return name === "gcra" ? "GCRA" : name.replaceAll("_", " ");
}

// Numbers by tier: `10/min` if all have the same, or `free: 10/min; pro, internal: 100/min`.
export function numbers(byTier) {
  const tiers = new Map();
  for (const [tier, text] of Object.entries(byTier)) tiers.set(text, [...(tiers.get(text) ?? []), tier]);
  if (tiers.size === 1) return [...tiers.keys()][0];
  return [...tiers].map(([text, names]) => `${names.join(", ")}: ${text}`).join("; ");
}

export function reason(name) {
  return {
    uncovered: "not limited", within: "within the limit", warned: "over the limit, but only warned",
    exceeded: "over the limit", blocked: "blocked by a penalty", key_missing: "what it is counted by is missing",
    banned: "denied outright", too_many_limits: "too many limits cover it", store_unavailable: "the store is away",
  }[name] ?? name.replaceAll("_", " ");
}

export const LEVELS = {info: null, warning: "warn", error: "alarm"};

export const PATHS = {
  shared: ["by the store", "admitted"], leased: ["leased: on slices", "soft-admitted"],
  approximate: ["approximate", "other"], local: ["local share, store away", "warned"],
  open: ["let through, store away", "soft-denied"], closed: ["denied, store away", "denied"],
};
