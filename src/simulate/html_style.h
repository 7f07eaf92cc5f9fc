// The look of the page.
#pragma once

#include <string_view>

namespace weir::simulate::html {

inline constexpr std::string_view style = R"css(
:root {
  color-scheme: light dark;
  --paper: #fbfbfa; --card: #ffffff; --ink: #1b2430; --soft: #5c6875; --line: #e3e6ea; --grid: #eceff2;
  --accent: #2f6fb7; --accent-soft: #dce8f5; --alarm: #d1572e; --alarm-soft: #f3c4b2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161b; --card: #1a2027; --ink: #e6eaee; --soft: #9aa6b2; --line: #2b333c; --grid: #252c34;
    --accent: #6ba4e0; --accent-soft: #22374d; --alarm: #ec8058; --alarm-soft: #6b3a28;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 1000px; margin: 0 auto; padding: 40px 20px 64px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 6px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 20px; margin: 48px 0 12px; letter-spacing: -0.005em; }
h3 { font-size: 17px; margin: 0 0 2px; overflow-wrap: anywhere; }
h4 { font-size: 14px; margin: 24px 0 6px; }
p { margin: 6px 0; max-width: 72ch; }
.soft { color: var(--soft); }
.small { font-size: 14px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 28px 0 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; }
.tile b { display: block; font-size: 26px; line-height: 1.2; font-weight: 600; letter-spacing: -0.01em; }
.tile span { color: var(--soft); font-size: 13px; display: block; }
.tile.alarm b { color: var(--alarm); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 20px; margin: 0 0 16px; }
.chart { overflow-x: auto; margin: 8px 0 0; }
svg { display: block; width: 100%; min-width: 560px; height: auto; }
svg text { font: 11.5px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: var(--soft); }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--grid); }
svg .base { stroke: var(--soft); }
svg .admitted { fill: var(--accent); }
svg .denied { fill: var(--alarm); }
svg .denied.soft { fill: var(--alarm-soft); }
svg .candidate-line { fill: none; stroke: var(--accent); stroke-width: 1.6; stroke-linejoin: round; }
svg .hint { fill: transparent; }
svg .hint:hover { fill: var(--ink); fill-opacity: 0.08; }
svg .now { stroke: var(--ink); stroke-width: 1.5; }
svg .mark { stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 3 3; }
svg .now-label { fill: var(--ink); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 6px 0 2px; font-size: 13px; color: var(--soft); }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; }
i.admitted { background: var(--accent); }
i.denied { background: var(--alarm); }
i.soft-denied { background: var(--alarm-soft); }
i.soft-admitted { background: var(--accent-soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: right; font-weight: 500; color: var(--soft); font-size: 13px; padding: 6px 10px; white-space: nowrap; }
td { text-align: right; padding: 6px 10px; border-top: 1px solid var(--line); white-space: nowrap; }
th.l, td.l { text-align: left; }
td.name { white-space: normal; overflow-wrap: anywhere; min-width: 130px; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
td.bars { width: 26%; min-width: 110px; }
td code, p code { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.bar { display: flex; height: 12px; border-radius: 3px; overflow: hidden; background: var(--grid); }
.bar i { height: 100%; }
.bar.tall { height: 22px; border-radius: 5px; }
details { margin-top: 10px; font-size: 14px; }
summary { cursor: pointer; color: var(--soft); }
details .scroll { max-height: 320px; overflow: auto; margin-top: 6px; }
ul { padding-left: 20px; margin: 8px 0; }
footer { margin-top: 48px; color: var(--soft); font-size: 13px; }
@media (max-width: 560px) {
  main { padding: 24px 14px 48px; }
  h1 { font-size: 23px; }
  .card { padding: 14px; }
}
@media print { .card, .tile { break-inside: avoid; } details { display: none; } }
)css";

}  // namespace weir::simulate::html
