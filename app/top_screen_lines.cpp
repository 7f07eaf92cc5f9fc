// The drawing part of Screen; top_screen.cpp handles keys.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "app/top_screen.h"

namespace weir::app {
namespace {

std::string_view name_of(Order order) {
  switch (order) {
    case Order::denied:
      return "denials";
    case Order::traffic:
      return "traffic";
    case Order::share:
      return "share denied";
    case Order::name:
      return "name";
  }
  return "";
}

// Returns `12:00:01` from `2026-01-05T12:00:01Z`.
std::string_view time_of_day(std::string_view at) {
  return at.size() >= 19 ? at.substr(11, 8) : at;
}

Ink ink_of_level(std::string_view level) {
  return level == "error" ? Ink::red : level == "warning" ? Ink::yellow : Ink::plain;
}

void append(std::vector<Line>& lines, std::vector<Line> more) {
  for (Line& line : more) lines.push_back(std::move(line));
}

Line heading(std::string text) {
  return {{std::move(text), Ink::bold}};
}

// The columns of the table of limits, by the width of the terminal.
struct Columns {
  static constexpr std::size_t count = 10;
  static constexpr std::size_t share = 8;
  static constexpr std::size_t note = 10;
  std::size_t name = 0;
  std::size_t spark = 0;

  explicit Columns(std::size_t all) {
    constexpr std::size_t numbers = 2 * count + share;
    constexpr std::size_t min_name_width = 16;
    const std::size_t rest = all > numbers + min_name_width ? all - numbers - min_name_width : 0;
    const std::size_t beside = rest > note + 2 ? rest - note - 2 : 0;
    spark = std::min(beside * 2 / 3, seconds_shown);
    name = all > numbers ? all - numbers - (spark > 0 ? spark + 2 + note : 0) : all;
  }
};

// In parentheses: what a limit in shadow mode would have denied.
std::string denied_text(const TopLimit& limit) {
  if (!limit.is_shadow) return count_text(static_cast<double>(limit.denied()));
  return fmt::format("({})", count_text(static_cast<double>(limit.would_deny())));
}

// Returns a short note about the state of a limit.
Span note_of(const TopLimit& limit) {
  if (limit.spike) return {"spike", Ink::red};
  if (limit.overflowed > 0) return {"overflow", Ink::red};
  if (limit.is_shadow) return {"shadow", Ink::faint};
  const bool differs = limit.candidate && limit.candidate->newly_denied + limit.candidate->newly_admitted > 0;
  if (differs) return {"candidate", Ink::yellow};
  return {};
}

}  // namespace

std::string Screen::spark(const std::vector<TrafficCounts>& series, std::uint64_t TrafficCounts::* count,
                          std::size_t slots, std::size_t width) const {
  std::vector<std::uint64_t> values;
  values.reserve(series.size());
  for (const TrafficCounts& each : series) values.push_back(each.*count);
  return sparkline(values, slots, width, charset_);
}

Line Screen::title() const {
  Line line{{fmt::format("weir {}  {}", show(data_.version), show(data_.address)), Ink::bold},
            {fmt::format("  {} UTC", show(time_of_day(data_.now.at)))}};
  if (!latest_.problem.empty()) {
    line.push_back({"  NOT CONNECTED, retrying: " + show(latest_.problem), Ink::red});
    return line;
  }
  if (is_paused_) line.push_back({"  PAUSED", Ink::yellow});
  if (!data_.reload_error.empty()) line.push_back({"  reload failed: " + show(data_.reload_error), Ink::red});
  line.push_back({"  " + show(data_.policy), Ink::faint});
  return line;
}

Line Screen::store_line() const {
  const TopNow& now = data_.now;
  Line line{{"store "}};
  if (now.store == "closed") {
    line.push_back({"connected", Ink::green});
  } else if (now.store == "half_open") {
    line.push_back({"probing", Ink::yellow});
  } else if (now.store == "open") {
    line.push_back({"UNAVAILABLE", Ink::red});
  } else {
    line.push_back({"local"});
  }
  if (data_.store) {
    const TopStore& store = *data_.store;
    if (store.differing > 0) line.push_back({fmt::format(", {} WITH A DIFFERENT POLICY", store.differing), Ink::red});
    if (store.connected < store.servers) {
      line.push_back({fmt::format(", {} of {} servers", store.connected, store.servers), Ink::yellow});
    }
    if (!store.unavailable_since.empty()) {
      line.push_back(
          {fmt::format(" since {}: {}", show(time_of_day(store.unavailable_since)), show(store.last_error)), Ink::red});
    }
    line.push_back({fmt::format(", {}, {} {}, p50 {} p99 {}", show(store.topology), store.nodes,
                                store.nodes == 1 ? "node" : "nodes", duration_text(store.p50, charset_),
                                duration_text(store.p99, charset_))});
  }
  line.push_back({fmt::format("  {} connections  memory {} of {}, process {}", now.connections, bytes_text(now.used),
                              bytes_text(now.budget), bytes_text(now.resident))});
  return line;
}

std::vector<Line> Screen::head(std::size_t columns) const {
  const TopNow& now = data_.now;
  const double seconds = now.seconds > 0 ? now.seconds : 1;
  const auto rate = [&](std::uint64_t count) { return count_text(static_cast<double>(count) / seconds); };
  // The share counts requests: each further limit adds decisions, and would dilute a share of those.
  const double share =
      now.evaluated == 0 ? 0 : static_cast<double>(now.denied_requests) / static_cast<double>(now.evaluated);
  std::vector<Line> lines{title()};
  lines.push_back(
      {{fmt::format("{}/s requests  {}/s decisions  ", rate(now.requests), rate(now.counts.decisions))},
       {fmt::format("{}/s denied ({} of requests)", rate(now.denied_requests), share_text(share)),
        now.denied_requests > 0 ? Ink::red : Ink::plain},
       {fmt::format("  p50 {}  p99 {}", duration_text(now.p50, charset_), duration_text(now.p99, charset_))}});
  lines.push_back(store_line());
  constexpr std::size_t words = 22;  // the width of `decisions `, `  denied ` and a margin
  const std::size_t width = columns > words ? (columns - words) / 2 : 0;
  lines.push_back({{"decisions ", Ink::faint},
                   {spark(data_.minute, &TrafficCounts::decisions, seconds_shown, width), Ink::green},
                   {"  denied ", Ink::faint},
                   {spark(data_.minute, &TrafficCounts::denied, seconds_shown, width), Ink::red}});
  return lines;
}

Line Screen::limit_row(const TopLimit& limit, std::size_t columns, bool is_selected) const {
  const Columns at(columns);
  const bool denies = limit.denied() > 0;
  const Ink bad = is_selected ? Ink::reverse : denies ? Ink::red : Ink::plain;
  const Ink plain = is_selected ? Ink::reverse : Ink::plain;
  Line line{{fitted(show(limit.name), at.name, charset_), plain},
            {fitted_right(count_text(static_cast<double>(limit.minute.decisions)), at.count, charset_), plain},
            {fitted_right(denied_text(limit), at.count, charset_), bad},
            {fitted_right(share_text(limit.share()), at.share, charset_), bad}};
  if (at.spark == 0) return line;
  Span note = note_of(limit);
  line.push_back(
      {"  " + fitted(spark(limit.recent, &TrafficCounts::decisions, seconds_shown, at.spark), at.spark, charset_),
       is_selected ? Ink::reverse : Ink::green});
  line.push_back({" " + fitted(note.text, at.note - 1, charset_), is_selected ? Ink::reverse : note.ink});
  return line;
}

std::vector<Line> Screen::limits_table(const Size& size, bool marks_selected) const {
  const Columns at(size.columns);
  const auto limits = chosen();
  std::string first = fmt::format("LIMIT by {}", name_of(order_));
  if (!filter_.empty() || is_filtering_) first += fmt::format(" /{}{}", filter_, is_filtering_ ? "_" : "");
  std::string words = fitted(first, at.name, charset_) + fitted_right("DECISIONS", at.count, charset_) +
                      fitted_right("DENIED", at.count, charset_) + fitted_right("SHARE", at.share, charset_);
  if (at.spark > 0) words += "  " + fitted("LAST MINUTE", at.spark + at.note, charset_);
  std::vector<Line> lines{heading(std::move(words))};
  if (size.rows == 0) return {};
  const std::size_t rows = size.rows - 1;
  const std::size_t selected = selected_at(limits);
  // The selected row must be visible.
  const std::size_t begin = rows == 0 || selected < rows ? 0 : selected - rows + 1;
  for (std::size_t i = begin; i < limits.size() && lines.size() <= rows; ++i) {
    lines.push_back(limit_row(data_.limits[limits[i]], size.columns, marks_selected && i == selected));
  }
  if (limits.empty() && rows > 0) {
    lines.push_back(
        {{data_.limits.empty() ? "The policy has no limits." : "No limit has that in its name.", Ink::faint}});
  }
  return lines;
}

std::vector<Line> Screen::denied_table(const std::vector<DeniedConsumer>& denied, std::size_t rows) const {
  std::vector<Line> lines{heading("MOST DENIED, by hash")};
  if (denied.empty()) lines.push_back({{"No consumer was denied recently.", Ink::faint}});
  for (std::size_t i = 0; i < std::min(rows, denied.size()); ++i) {
    lines.push_back({{fitted_right(count_text(static_cast<double>(denied[i].count)), 8, charset_), Ink::red},
                     {fmt::format("  {}  {}", show(denied[i].consumer), show(denied[i].limit))}});
  }
  return lines;
}

std::vector<Line> Screen::events_table(std::size_t rows) const {
  std::vector<Line> lines{heading("EVENTS")};
  if (data_.events.empty()) lines.push_back({{"None.", Ink::faint}});
  for (std::size_t i = 0; i < std::min(rows, data_.events.size()); ++i) {
    const TopEvent& event = data_.events[i];
    lines.push_back({{show(time_of_day(event.at)) + "  ", Ink::faint},
                     {fmt::format("{}: {}", show(event.kind), show(event.message)), ink_of_level(event.level)}});
  }
  return lines;
}

std::vector<Line> Screen::limit_lines(const TopLimit& limit, std::size_t columns) const {
  constexpr std::size_t margin = 12;
  const std::size_t wide = columns > margin ? columns - margin : 0;
  const std::size_t slots = std::max(seconds_shown, limit.recent.size());
  const auto word = [&](std::string_view name) { return Span{fitted(name, margin, charset_), Ink::faint}; };
  std::vector<Line> lines{heading("LIMIT " + show(limit.name))};
  lines.push_back({word("means"), {show(limit.words)}});
  lines.push_back({word("last minute"),
                   {fmt::format("{} decisions  ", limit.minute.decisions)},
                   {fmt::format("{} {} ({})", limit.is_shadow ? limit.would_deny() : limit.denied(),
                                limit.is_shadow ? "would be denied" : "denied", share_text(limit.share())),
                    limit.denied() > 0 ? Ink::red : Ink::plain}});
  lines.push_back({word("decisions"), {spark(limit.recent, &TrafficCounts::decisions, slots, wide), Ink::green}});
  lines.push_back(
      {word("denied"),
       {spark(limit.recent, limit.is_shadow ? &TrafficCounts::shadow_denied : &TrafficCounts::denied, slots, wide),
        Ink::red}});
  std::string total;
  for (const auto& [name, count] : limit.total)
    total += fmt::format("{}{} {}", total.empty() ? "" : ", ", count, show(name));
  lines.push_back({word("since start"), {total.empty() ? "nothing" : total}});
  lines.push_back({word("headroom"),
                   {"nothing left "},
                   {sparkline(limit.headroom, limit.headroom.size(), limit.headroom.size(), charset_), Ink::yellow},
                   {" all left"}});
  lines.push_back(
      {word("consumers"),
       {fmt::format("{}, states {} of {}", limit.consumers, bytes_text(limit.bytes), bytes_text(limit.budget))}});
  if (limit.overflowed > 0) {
    lines.push_back({word("overflow"), {fmt::format("{} decisions on shared states", limit.overflowed), Ink::red}});
  }
  if (limit.spike) {
    lines.push_back(
        {word("spike"),
         {fmt::format("since {}: {}/s, at most {}/s in the hour before", show(time_of_day(limit.spike->since)),
                      count_text(limit.spike->rate), count_text(limit.spike->past)),
          Ink::red}});
  }
  if (limit.candidate) {
    lines.push_back({word("candidate"),
                     {fmt::format("agreed {}, newly denied {}, newly admitted {}", limit.candidate->agreed,
                                  limit.candidate->newly_denied, limit.candidate->newly_admitted)}});
  }
  return lines;
}

std::vector<Line> Screen::detail(const Size& size) const {
  const bool is_here = data_.detail && data_.detail->name == looked_at_;
  const auto known = std::ranges::find(data_.limits, looked_at_, &TopLimit::name);
  if (!is_here && known == data_.limits.end())
    return {heading("LIMIT " + show(looked_at_)), {{"The active policy has no such limit."}}};
  const TopLimit& limit = is_here ? *data_.detail : *known;
  std::vector<Line> lines = limit_lines(limit, size.columns);
  const std::size_t left = size.rows > lines.size() ? size.rows - lines.size() : 0;
  constexpr std::size_t headings = 2;
  const std::size_t routes =
      left > headings + 2 ? std::min<std::size_t>(limit.by_route.size(), (left - headings) / 2) : 0;
  append(lines, denied_table(limit.top_denied, left > headings + routes ? left - headings - routes : 0));
  if (routes == 0) return lines;
  lines.push_back(heading("ROUTES since start"));
  for (std::size_t i = 0; i < routes; ++i) {
    const auto& [route, counts] = limit.by_route[i];
    lines.push_back({{fitted_right(count_text(static_cast<double>(counts.decisions)), 8, charset_)},
                     {fitted_right(count_text(static_cast<double>(counts.denied)), 8, charset_) + " denied",
                      counts.denied > 0 ? Ink::red : Ink::plain},
                     {"  " + show(route)}});
  }
  return lines;
}

std::vector<Line> Screen::help() const {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> keys{
      {{"up, down, j, k", "select a limit; also PgUp, PgDn, Home, End"},
       {"Enter", "details: history, routes, denied consumers"},
       {"Esc", "back; clears the filter"},
       {"s", "sort by the next of: denials, traffic, share denied, name"},
       {"d t r n", "sort by denials, by traffic, by share denied, by name"},
       {"/", "filter limits by name"},
       {"Space, p", "pause and resume"},
       {"?, h", "this help"},
       {"q, Ctrl-C", "quit"}}};
  std::vector<Line> lines{heading("KEYS")};
  for (const auto& [key, text] : keys) {
    lines.push_back({{fitted(key, 16, charset_), Ink::yellow}, {std::string(text)}});
  }
  lines.push_back({{""}});
  lines.push_back({{"DECISIONS and DENIED cover the last minute. In parentheses: what a limit in"}});
  lines.push_back({{"shadow mode would have denied. Consumers are hashed as in the log: weir hash."}});
  return lines;
}

Line Screen::foot() const {
  if (is_filtering_)
    return {{fmt::format("/{}_", filter_), Ink::bold}, {"   Enter applies it, Esc clears it", Ink::faint}};
  if (shows_help_) return {{"Esc back   q quit", Ink::faint}};
  if (!looked_at_.empty()) return {{"Esc back   Space pause   ? help   q quit", Ink::faint}};
  return {{"Enter details   s sort   / filter   Space pause   ? help   q quit", Ink::faint}};
}

std::vector<Line> Screen::body(const Size& size) const {
  if (shows_help_) return help();
  if (!looked_at_.empty()) return detail(size);
  // Two tables below the limits, if there is room. With fewer limits, these tables are longer.
  constexpr std::size_t least = 3;
  constexpr std::size_t most = 10;
  constexpr std::size_t min_body_lines = 14;
  if (size.rows < min_body_lines) return limits_table(size, true);
  const std::size_t limits = std::max<std::size_t>(chosen().size(), 1) + 1;
  const std::size_t left = size.rows > limits + 2 ? (size.rows - limits - 2) / 2 : 0;
  const std::size_t rows = std::clamp(left, least, most);
  std::vector<Line> lines = limits_table({size.columns, size.rows - 2 * (rows + 1)}, true);
  append(lines, denied_table(data_.denied, rows));
  append(lines, events_table(rows));
  return lines;
}

std::vector<Line> Screen::lines(const Size& size) const {
  std::vector<Line> all = head(size.columns);
  const std::size_t around = all.size() + 1;
  const std::size_t rows = size.rows > around ? size.rows - around : 0;
  append(all, body({size.columns, rows}));
  all.resize(size.rows > 0 ? size.rows - 1 : 0);
  if (size.rows > 0) all.push_back(foot());
  for (Line& line : all) line = cut(std::move(line), size.columns, charset_);
  return all;
}

std::vector<Line> Screen::whole(std::size_t columns) const {
  std::vector<Line> all = head(columns);
  append(all, limits_table({columns, data_.limits.size() + 2}, false));
  if (data_.more_limits > 0) all.push_back({{fmt::format("and {} more limits", data_.more_limits), Ink::faint}});
  append(all, denied_table(data_.denied, data_.denied.size()));
  constexpr std::size_t events = 10;
  append(all, events_table(events));
  for (Line& line : all) line = cut(std::move(line), columns, charset_);
  return all;
}

}  // namespace weir::app
