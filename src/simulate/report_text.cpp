#include <algorithm>
#include <charconv>
#include <ranges>
#include <utility>

#include <fmt/core.h>

#include "simulate/report.h"
#include "simulate/report_words.h"

namespace weir::simulate {
namespace {

constexpr std::size_t max_routes = 20;
constexpr std::size_t max_consumers = 10;

std::string styled(const std::string& text, const char* code, Colour colour) {
  return colour == Colour::on ? std::string(code) + text + "\033[0m" : text;
}

// A table with aligned columns of bounded width.
class TextTable {
 public:
  // `titles` is `limit<28|evaluated|...`: `<` aligns a column to the left, and a number bounds its width (default 24).
  explicit TextTable(std::string_view titles) {
    while (!titles.empty()) {
      const std::string_view title = titles.substr(0, titles.find('|'));
      titles.remove_prefix(std::min(title.size() + 1, titles.size()));
      const std::size_t mark = std::min(title.find('<'), title.size());
      Column& column = columns_.emplace_back(std::string(title.substr(0, mark)), mark < title.size());
      std::from_chars(title.data() + std::min(mark + 1, title.size()), title.data() + title.size(), column.widest);
    }
  }

  // Missing cells are empty. A cell that is too wide is truncated.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  // Lines are indented by two and end with a line break.
  [[nodiscard]] std::string text(Colour colour) const {
    const std::vector<std::size_t> width = widths();
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    std::string text = styled(line_of(titles, width), "\033[2m", colour) + "\n";
    for (const auto& row : rows_) text += line_of(row, width) + "\n";
    return text;
  }

 private:
  struct Column {
    Column(std::string its_title, bool left) : title(std::move(its_title)), is_left(left) {}

    std::string title;
    bool is_left;
    std::size_t widest = 24;
  };

  [[nodiscard]] std::vector<std::size_t> widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::size_t title = display_width(columns_[i].title);
      std::size_t width = title;
      for (const auto& row : rows_) width = std::max(width, i < row.size() ? display_width(row[i]) : 0);
      widths.push_back(std::min(width, std::max(columns_[i].widest, title)));
    }
    return widths;
  }

  [[nodiscard]] std::string line_of(const std::vector<std::string>& cells,
                                    const std::vector<std::size_t>& widths) const {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = i < cells.size() ? fitted(cells[i], widths[i]) : std::string{};
      const std::string gap(widths[i] - display_width(cell), ' ');
      line += "  ";
      line += columns_[i].is_left ? cell + gap : gap + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

class ReportText {
 public:
  ReportText(const Report& report, Colour colour) : report_(report), colour_(colour) {}

  [[nodiscard]] std::string write() {
    summary();
    limits(report_.policy, "Limits");
    routes();
    demand();
    candidates();
    if (report_.comparison) comparison(*report_.comparison);
    if (report_.nodes) nodes(*report_.nodes);
    if (!report_.estimates.empty()) estimates();
    for (const LimitReport& limit : report_.policy.limits) {
      consumers("Denied most by " + limit.name, limit.hardest_hit);
    }
    log();
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string bold(const std::string& text) const { return styled(text, "\033[1m", colour_); }
  void heading(const std::string& title) { text_ += "\n" + bold(title) + "\n"; }
  void line(const std::string& words) { text_ += "  " + words + "\n"; }
  void table(const TextTable& table) { text_ += table.text(colour_); }

  void summary() {
    const PolicyReport& policy = report_.policy;
    const Pace& pace = report_.pace;
    const std::string name = policy.name.empty() ? "policy" : policy.name;
    text_ += bold(name + ": " + counted(pace.requests, "request", "requests")) + "\n";
    if (pace.requests == 0) return;
    line(fmt::format("from {} to {} UTC ({})", time_text(report_.first), time_text(report_.last),
                     length_text(report_.last - report_.first)));
    std::string verdicts = fmt::format("admitted {} ({}), denied {} ({})", grouped(policy.admitted),
                                       percent(policy.admitted, pace.requests), grouped(policy.denied),
                                       percent(policy.denied, pace.requests));
    if (policy.warned > 0) verdicts += ", warned " + grouped(policy.warned);
    if (policy.delayed > 0) verdicts += ", delayed " + grouped(policy.delayed);
    if (policy.uncovered > 0) verdicts += ", covered by no limit " + grouped(policy.uncovered);
    line(verdicts);
    line(fmt::format("mean {}/s; peak {} in one second ({}), {} in one minute (from {})", rounded(pace.mean_per_second),
                     grouped(pace.second.count), time_text(pace.second.at), grouped(pace.minute.count),
                     time_text(pace.minute.at)));
    const std::vector<std::string> cautions = cautions_on(report_.log);
    if (cautions.empty()) return;
    heading(cautions_title);
    for (const std::string& caution : cautions) line(caution);
  }

  void limits(const PolicyReport& policy, const std::string& title) {
    if (policy.limits.empty()) return;
    heading(title);
    TextTable rows("limit<28|numbers<24|evaluated|admitted|denied|share|warned|shadow|peak/s|peak/min");
    for (const LimitReport& limit : policy.limits) {
      const LimitCounts& counts = limit.counts;
      rows.add({limit.name, limit.numbers, grouped(counts.evaluated()), grouped(counts.of(engine::Event::admitted)),
                grouped(counts.denied()), percent(counts.denied(), counts.evaluated()),
                grouped(counts.of(engine::Event::warned)), grouped(counts.of(engine::Event::shadow_denied)),
                grouped(limit.pace.second.count), grouped(limit.pace.minute.count)});
    }
    table(rows);
    limits_on_routes(policy);
  }

  // Lists the routes of each limit that denies and has more than one.
  void limits_on_routes(const PolicyReport& policy) {
    TextTable rows("limit<28|route<44|evaluated|denied|share");
    for (const LimitReport& limit : policy.limits) {
      if (limit.routes.size() < 2 || limit.counts.denied() == 0) continue;
      std::size_t shown = 0;
      for (const LimitOnRoute& route : limit.routes) {
        if (route.counts.denied() == 0 || ++shown > max_consumers) continue;
        rows.add({limit.name, route.route, grouped(route.counts.evaluated()), grouped(route.counts.denied()),
                  percent(route.counts.denied(), route.counts.evaluated())});
      }
    }
    if (rows.empty()) return;
    heading("Limits by route");
    table(rows);
  }

  void routes() {
    const auto& routes = report_.policy.routes;
    if (routes.empty()) return;
    heading("Routes");
    TextTable rows("route<44|requests|admitted|denied|share|mean/s|peak/s|peak/mean");
    for (const RouteReport& route : routes | std::views::take(max_routes)) {
      rows.add({route.route, grouped(route.pace.requests), grouped(route.admitted), grouped(route.denied),
                percent(route.denied, route.pace.requests), rounded(route.pace.mean_per_second),
                grouped(route.pace.second.count), rounded(route.pace.burst_ratio())});
    }
    table(rows);
    if (routes.size() > max_routes) line(fmt::format("and {} more", grouped(routes.size() - max_routes)));
  }

  void demand() {
    TextTable rows("limit<28|tier<12|consumers|rate<16|now<|fits|99 %<|99.9 %<|all<");
    for (const LimitReport& limit : report_.policy.limits) {
      for (const Demand& demand : limit.demand) {
        for (std::size_t i = 0; i < demand.rates.size(); ++i) {
          const auto& [rate, number] = demand.rates[i];
          const bool is_first = i == 0;
          rows.add({is_first ? limit.name : "", is_first ? demand.tier : "", is_first ? sample_text(demand) : "", rate,
                    is_first ? fmt::format("{} {}", demand.word, grouped(demand.present)) : "",
                    is_first ? percent(demand.satisfied, demand.consumers) : "", need_text(demand, number.p99),
                    need_text(demand, number.p999), need_text(demand, number.all)});
        }
      }
    }
    if (rows.empty()) return;
    heading("Numbers needed so that 99 %, 99.9 % or all consumers are never denied");
    table(rows);
    line(
        "Based on each consumer's peak demand, as if nothing had been denied. A burst that stays large at twice the "
        "rate");
    line("means sustained use above the rate: raise the rate, not the burst.");
  }

  void candidates() {
    TextTable rows("limit<28|candidate<44|agrees|newly denied|consumers|newly admitted|consumers");
    for (const LimitReport& limit : report_.policy.limits) {
      if (!limit.candidate) continue;
      const CandidateReport& candidate = *limit.candidate;
      rows.add({limit.name, candidate.algorithm + " " + candidate.numbers, grouped(candidate.agrees),
                grouped(candidate.newly_denied), affected(candidate.newly_denied_consumers),
                grouped(candidate.newly_admitted), affected(candidate.newly_admitted_consumers)});
    }
    if (rows.empty()) return;
    heading("Candidates in the policy");
    table(rows);
    for (const LimitReport& limit : report_.policy.limits) {
      if (!limit.candidate) continue;
      consumers("Newly denied by the candidate of " + limit.name, limit.candidate->newly_denied_consumers);
      consumers("Newly admitted by the candidate of " + limit.name, limit.candidate->newly_admitted_consumers);
    }
  }

  void comparison(const Comparison& comparison) {
    const PolicyReport& candidate = *report_.candidate;
    heading(fmt::format("Compared with {}", candidate.name.empty() ? "the candidate" : candidate.name));
    line(fmt::format("denied {} ({}) instead of {} ({})", grouped(candidate.denied),
                     percent(candidate.denied, report_.pace.requests), grouped(report_.policy.denied),
                     percent(report_.policy.denied, report_.pace.requests)));
    line(fmt::format("newly denied {}, newly admitted {}, both admit {}, both deny {}",
                     grouped(comparison.newly_denied), grouped(comparison.newly_admitted),
                     grouped(comparison.both_admit), grouped(comparison.both_deny)));
    if (!comparison.rows.empty()) {
      TextTable rows("limit<28|route<44|newly denied|newly admitted");
      for (const Comparison::Row& row : comparison.rows | std::views::take(max_routes)) {
        rows.add({row.limit, row.route, grouped(row.newly_denied), grouped(row.newly_admitted)});
      }
      text_ += "\n";
      table(rows);
    }
    limits(candidate, "Limits of the candidate");
    for (const auto& of : comparison.newly_denied_by) consumers("Newly denied by " + of.limit, of.consumers);
    for (const auto& of : comparison.newly_admitted_by) {
      consumers("No longer denied by " + of.limit, of.consumers);
    }
  }

  void nodes(const NodesReport& nodes) {
    heading(title_of(nodes));
    line(fmt::format("admitted {} ({}), denied {} ({}); newly denied {}, newly admitted {}", grouped(nodes.admitted),
                     percent(nodes.admitted, report_.pace.requests), grouped(nodes.denied),
                     percent(nodes.denied, report_.pace.requests), grouped(nodes.newly_denied),
                     grouped(nodes.newly_admitted)));
    line(traffic_of(nodes));
    TextTable rows(
        "limit<28|decided<18|exact: admitted|denied|nodes: admitted|denied|newly denied|contended|newly admitted|over|"
        "no trip|messages");
    for (const NodesReport::OfLimit& of : nodes.limits) {
      rows.add({of.name, of.consistency, grouped(of.exact_admitted), grouped(of.exact_denied), grouped(of.admitted),
                grouped(of.denied), grouped(of.newly_denied), grouped(of.contended_denials), grouped(of.newly_admitted),
                of.over ? grouped(*of.over) : "-", percent(of.without_round_trip, of.evaluated), grouped(of.messages)});
    }
    table(rows);
    line("Compared with one exact store. contended: denied by the store while other nodes had enough unused units on");
    line("lease; over: the largest excess of any consumer over the limit. A message may carry several limits, and the");
    line("server sends messages in batches.");
  }

  void estimates() {
    heading("Costs known only at the end");
    TextTable requests("estimate<|admitted|denied|newly denied|newly admitted");
    TextTable units("limit<28|estimate<|denied|reserved|spent|given back|wasted|overspent|no receipt");
    for (const EstimateReport& of : report_.estimates) {
      requests.add({of.estimate, grouped(of.admitted), grouped(of.denied), grouped(of.newly_denied),
                    grouped(of.newly_admitted)});
    }
    table(requests);
    for (std::size_t limit = 0; limit < report_.estimates[0].limits.size(); ++limit) {
      for (const EstimateReport& estimate : report_.estimates) {
        const EstimateReport::OfLimit& of = estimate.limits[limit];
        units.add({&estimate == &report_.estimates[0] ? of.name : "", estimate.estimate, grouped(of.denied),
                   grouped(of.reserved), grouped(of.spent), grouped(of.given_back), rounded(of.wasted),
                   grouped(of.overspent), grouped(of.not_kept)});
      }
    }
    text_ += "\n";
    if (units.empty()) return line("No limit uses the cost of the caller: the costs in the log have no effect.");
    table(units);
    for (const std::string& words : words_on_estimates()) line(words);
  }

  [[nodiscard]] static std::string affected(const HardestHit& hit) {
    return (hit.exact ? "" : "about ") + grouped(hit.affected);
  }

  void consumers(const std::string& title, const HardestHit& hit) {
    if (hit.consumers.empty()) return;
    heading(fmt::format("{} ({} of {} {})", title, counted(hit.total, "request", "requests"), affected(hit),
                        hit.affected == 1 ? "consumer" : "consumers"));
    TextTable rows("consumer<60|requests|share|<40");
    for (const HardestHit::Consumer& consumer : hit.consumers | std::views::take(max_consumers)) {
      rows.add({consumer.name, grouped(consumer.count), percent(consumer.count, hit.total),
                consumer.error > 0 ? "or up to " + grouped(consumer.count + consumer.error) : ""});
    }
    table(rows);
  }

  void log() {
    heading("The log");
    line(fmt::format("{}, {}", counted(report_.log.lines, "line", "lines"),
                     counted(report_.log.entries, "request", "requests")));
    for (const std::string& remark : remarks_on(report_.log)) line(remark);
    for (const FaultTally::Example& example : report_.log.examples) {
      line(fmt::format("line {}: {}{}{}", grouped(example.line_number), describe(example.fault),
                       example.excerpt.empty() ? "" : ": ", example.excerpt));
    }
    const PolicyReport& policy = report_.policy;
    if (policy.unknown_tiers > 0) line(counted(policy.unknown_tiers, "request", "requests") + " with an unknown tier");
    if (policy.overflowed > 0) {
      line(counted(policy.overflowed, "decision", "decisions") +
           " used shared counters because memory ran out; raise the memory budget");
    }
  }

  const Report& report_;
  Colour colour_;
  std::string text_;
};

}  // namespace

std::string report_text(const Report& report, Colour colour) {
  return ReportText(report, colour).write();
}

}  // namespace weir::simulate
