// Formats numbers, durations and times.

const MINUS = "\u2212";
const NONE = "\u2013";

export function count(number) {
  if (number === null || number === undefined) return NONE;
  return Math.round(number).toLocaleString("en-US");
}

// Three digits and a unit: 1,234,567 is 1.23 M.
export function short(number) {
  if (number === null || number === undefined) return NONE;
  if (number < 0) return MINUS + short(-number);
  for (const [size, unit] of [[1e9, " G"], [1e6, " M"], [1e4, " k"]]) {
    if (number >= size) return three(number / (unit === " k" ? 1e3 : size)) + unit;
  }
  return number >= 100 || Number.isInteger(number) ? count(number) : three(number);
}

function three(number) {
  const digits = number >= 100 ? 0 : number >= 10 ? 1 : 2;
  const text = number.toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function share(part, whole) {
  if (!whole) return NONE;
  const percent = (100 * part) / whole;
  if (percent === 0 || percent === 100) return `${percent} %`;
  if (percent < 0.1) return "< 0.1 %";
  if (percent > 99.9) return "> 99.9 %";
  return `${percent.toFixed(1)} %`;
}

export function bytes(number) {
  if (number === null || number === undefined) return NONE;
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (number >= size) return `${three(number / size)} ${unit}`;
  }
  return `${number} B`;
}

// A latency in seconds: 0.00042 is 420 µs.
export function latency(seconds) {
  if (seconds === null || seconds === undefined) return NONE;
  if (seconds < 1e-3) return `${three(seconds * 1e6)} \u00b5s`;
  if (seconds < 1) return `${three(seconds * 1e3)} ms`;
  return `${three(seconds)} s`;
}

// A duration in seconds, in its two largest units: 3 h 20 min.
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return NONE;
  if (seconds < 1) return seconds === 0 ? "0 s" : latency(seconds);
  if (seconds < 10) return `${three(Math.ceil(seconds * 10) / 10)} s`;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let left = Math.ceil(seconds);
  const words = [];
  for (const [name, size] of units) {
    const number = Math.floor(left / size);
    if (number > 0 && words.length < 2) words.push(`${number} ${name}`);
    else if (words.length > 0) break;
    left -= number * size;
  }
  return words.join(" ");
}

function two(number) {
  return String(number).padStart(2, "0");
}

// Times are in UTC, as in the log. `at` is in milliseconds, or a text such as 2026-01-05T12:00:00Z.
export function clock(at) {
  const date = new Date(at);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

export function minute(at) {
  return clock(at).slice(0, 5);
}

export function when(at) {
  if (!at) return NONE;
  return `${new Date(at).toISOString().slice(0, 10)} ${clock(at)}`;
}

export function ago(at, now) {
  if (!at) return NONE;
  const seconds = Math.floor((now - new Date(at).getTime()) / 1000);
  if (seconds < 1) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  return `${duration(seconds < 3600 ? seconds - (seconds % 60) : seconds)} ago`;
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function digest(text) {
  return text ? text.slice(0, 12) : NONE;
}

export const none = NONE;
