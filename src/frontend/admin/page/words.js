// Display texts for the names in the server's JSON.

// Returns [word, remark, mood] for a state of the store.
export function storeWords(state) {
  switch (state) {
    case "local": return ["Local", "state is in this process", null];
    case "closed": return ["Connected", "breaker closed", null];
    case "half_open": return ["Probing", "breaker half open", "warn"];
    case "open": return ["Unavailable", "breaker open", "alarm"];
    default: return [state ?? "Unknown", "", null];
  }
}

export function algorithm(name) {
  return name === "gcra" ? "GCRA" : name.replaceAll("_", " ");
}

// Formats numbers by tier: `10/min` if all tiers have the same, or `free: 10/min; pro, internal: 100/min`.
export function numbers(byTier) {
  const tiers = new Map();
  for (const [tier, text] of Object.entries(byTier)) tiers.set(text, [...(tiers.get(text) ?? []), tier]);
  if (tiers.size === 1) return [...tiers.keys()][0];
  return [...tiers].map(([text, names]) => `${names.join(", ")}: ${text}`).join("; ");
}

export function reason(name) {
  return {
    uncovered: "not limited", shadow: "only shadow limits apply", exempt: "exempt from all limits",
    within: "within the limit", warned: "over the limit, warned only",
    exceeded: "limit exceeded", blocked: "blocked", key_missing: "the limit's key is missing",
    banned: "always denied", too_many_limits: "too many limits apply", store_unavailable: "store unavailable",
    reserve_too_large: "the reservation is too large",
  }[name] ?? name.replaceAll("_", " ");
}

export const LEVELS = {info: null, warning: "warn", error: "alarm"};

export const PATHS = {
  shared: ["by the store", "admitted"], leased: ["from a leased slice", "soft-admitted"],
  approximate: ["approximate", "other"], local: ["local share, store unavailable", "warned"],
  open: ["admitted, store unavailable", "soft-denied"], closed: ["denied, store unavailable", "denied"],
};
