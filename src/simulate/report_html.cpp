// A report as one page: no script, nothing loaded from anywhere, light or dark as the reader's system is.
// Everything in it that comes from a log or a policy is escaped.
#include <algorithm>
#include <ranges>

#include <fmt/core.h>

#include "simulate/html_charts.h"
#include "simulate/html_style.h"
#include "simulate/report.h"
#include "simulate/report_words.h"

namespace weir::simulate {
namespace {

using engine::Event;
using html::escaped;

constexpr std::size_t most_rows = 100;

using Rows = std::vector<std::vector<std::string>>;

std::string details(const std::string& inside) {
  return "<details><summary>The numbers</summary><div class=\"scroll\">" + inside + "</div></details>\n";
}

// `columns` are titles, each with a class after a colon: "l" is on the left, "l name" for long texts, "l bars";
// otherwise the column is on the right. Cells are HTML: the caller escapes.
std::string html_table(std::string_view columns, const Rows& rows) {
  std::string text = "<div class=\"scroll\"><table><thead><tr>";
  std::vector<std::string> classes;
  while (!columns.empty()) {
    const std::string_view column = columns.substr(0, columns.find('|'));
    columns.remove_prefix(std::min(column.size() + 1, columns.size()));
    const std::size_t colon = std::min(column.find(':'), column.size());
    classes.push_back(escaped(column.substr(std::min(colon + 1, column.size()))));
    text += fmt::format(R"(<th scope="col" class="{}">{}</th>)", classes.back(), escaped(column.substr(0, colon)));
  }
  text += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < classes.size(); ++i) {
      text += fmt::format(R"(<td class="{}">{}</td>)", classes[i], i < row.size() ? row[i] : "");
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

// What a chart shows, in numbers, folded away at first.
std::string numbers_of(const Timeline& timeline) {
  Rows rows;
  for (std::size_t i = 0; i < timeline.bins().size(); ++i) {
    const Timeline::Bin& bin = timeline.bins()[i];
    const Instant at = timeline.start() + timeline.width() * static_cast<Duration::rep>(i);
    rows.push_back({time_text(at), grouped(bin.admitted), grouped(bin.denied)});
  }
  return details(html_table("from (UTC):l|admitted|denied", rows));
}

std::string numbers_of(const Demand& demand) {
  Rows rows;
  for (const Demand::Bar& bar : demand.bars) {
    rows.push_back({grouped(bar.from), grouped(bar.to), grouped(bar.consumers)});
  }
  return details(html_table(demand.word + " needed, from|to|consumers", rows));
}

// What it would take, at each rate.
std::string needs_table(const Demand& demand) {
  Rows rows;
  for (const Demand::AtRate& rate : demand.rates) {
    rows.push_back({escaped(rate.rate), escaped(need_text(demand, rate.number.half)),
                    escaped(need_text(demand, rate.number.p99)), escaped(need_text(demand, rate.number.p999)),
                    escaped(need_text(demand, rate.number.all))});
  }
  return html_table("at a rate of:l|for 50 %|for 99 %|for 99.9 %|for all", rows);
}

// A heading and the consumers, with bars of that class; nothing if there are none.
std::string consumers_table(const std::string& title, const HardestHit& hit, const char* bar_class) {
  if (hit.consumers.empty()) return {};
  std::uint64_t most = 1;
  for (const auto& consumer : hit.consumers) most = std::max(most, consumer.count);
  Rows rows;
  for (const auto& consumer : hit.consumers) {
    const std::string error = consumer.error > 0 ? " to " + grouped(consumer.count + consumer.error) : "";
    rows.push_back(
        {"<code>" + escaped(consumer.name) + "</code>",
         html::stacked_bar({{bar_class, consumer.count, "requests"}, {"rest", most - consumer.count, "fewer"}}),
         grouped(consumer.count) + error, percent(consumer.count, hit.total)});
  }
  return fmt::format("<h4>{}</h4><p class=\"small soft\">{} of {}{} {}</p>", escaped(title),
                     counted(hit.total, "request", "requests"), hit.exact ? "" : "about ", grouped(hit.affected),
                     hit.affected == 1 ? "consumer" : "consumers") +
         html_table("consumer:l name|:l bars|requests|share", rows);
}

class Page {
 public:
  explicit Page(const Report& report) : report_(report) {}

  [[nodiscard]] std::string write() {
    head();
    tiles();
    over_time();
    if (report_.comparison) comparison(*report_.comparison);
    if (report_.nodes) nodes(*report_.nodes);
    if (!report_.estimates.empty()) estimates();
    limits();
    routes();
    log();
    text_ += "<footer>Made by weir simulate. Times are in UTC.</footer>\n</main></body></html>\n";
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string policy_name() const {
    return report_.policy.name.empty() ? "the policy" : report_.policy.name;
  }
  [[nodiscard]] std::string candidate_name() const {
    return report_.candidate->name.empty() ? "the candidate" : report_.candidate->name;
  }

  void head() {
    const std::string title = fmt::format("What {} would have done", policy_name());
    std::string files;
    for (const std::string& file : report_.log.files) files += (files.empty() ? "" : ", ") + file;
    text_ += fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
        "<style>{}</style></head>\n<body><main>\n<h1>{}</h1>\n",
        escaped(title), html::style, escaped(title));
    text_ += fmt::format("<p class=\"soft\">{}, replayed on virtual time: {} to {} UTC, {}</p>\n", escaped(files),
                         time_text(report_.first), time_text(report_.last), length_text(report_.last - report_.first));
  }

  void tile(const std::string& number, const std::string& words, const char* css_class = "") {
    text_ += fmt::format("<div class=\"tile {}\"><b>{}</b><span>{}</span></div>\n", css_class, escaped(number),
                         escaped(words));
  }

  void tiles() {
    const PolicyReport& policy = report_.policy;
    const Pace& pace = report_.pace;
    text_ += "<div class=\"tiles\">\n";
    tile(grouped(pace.requests), fmt::format("requests, {}/s on average", rounded(pace.mean_per_second)));
    tile(percent(policy.admitted, pace.requests), "admitted: " + grouped(policy.admitted));
    tile(percent(policy.denied, pace.requests), "denied: " + grouped(policy.denied), policy.denied > 0 ? "alarm" : "");
    tile(grouped(pace.second.count), "in the busiest second, " + time_text(pace.second.at));
    tile(grouped(pace.minute.count), "in the busiest minute, from " + time_text(pace.minute.at));
    if (policy.warned > 0) tile(grouped(policy.warned), "admitted with a warning");
    if (policy.delayed > 0) tile(grouped(policy.delayed), "admitted after a wait in a queue");
    if (policy.uncovered > 0) tile(grouped(policy.uncovered), "covered by no limit");
    text_ += "</div>\n";
    cautions();
  }

  void cautions() {
    const std::vector<std::string> cautions = cautions_on(report_.log);
    if (cautions.empty()) return;
    text_ += fmt::format("<section class=\"card\"><p><b>{}</b></p><ul>\n", cautions_title);
    for (const std::string& caution : cautions) text_ += "<li>" + escaped(caution) + "</li>\n";
    text_ += "</ul></section>\n";
  }

  void over_time() {
    text_ +=
        "<h2>Admitted and denied over time</h2>\n<section class=\"card\"><div class=\"legend\"><span><i "
        "class=\"admitted\"></i>admitted</span><span><i class=\"denied\"></i>denied</span></div>\n";
    text_ += html::timeline_chart(report_.policy.timeline, "Admitted and denied over time");
    text_ += numbers_of(report_.policy.timeline) + "</section>\n";
  }

  void comparison(const Comparison& comparison) {
    const PolicyReport& candidate = *report_.candidate;
    text_ += fmt::format("<h2>{} against {}</h2>\n<section class=\"card\">", escaped(policy_name()),
                         escaped(candidate_name()));
    text_ += fmt::format(
        "<p><b>{}</b> newly denied, <b>{}</b> newly admitted. {} denies {} ({}), {} denies {} ({}).</p>\n",
        counted(comparison.newly_denied, "request", "requests"), grouped(comparison.newly_admitted),
        escaped(policy_name()), grouped(report_.policy.denied), percent(report_.policy.denied, report_.pace.requests),
        escaped(candidate_name()), grouped(candidate.denied), percent(candidate.denied, report_.pace.requests));
    agreement({{"soft-admitted", comparison.both_admit, "both admit"},
               {"admitted", comparison.newly_admitted, "newly admitted"},
               {"denied", comparison.newly_denied, "newly denied"},
               {"soft-denied", comparison.both_deny, "both deny"}});
    text_ += "<h4>Denied over time</h4><div class=\"legend\"><span><i class=\"soft-denied\"></i>";
    text_ += fmt::format("{}</span><span><i class=\"admitted\"></i>{}</span></div>\n", escaped(policy_name()),
                         escaped(candidate_name()));
    text_ += html::denials_chart(report_.policy.timeline, candidate.timeline);
    text_ += numbers_of(candidate.timeline);
    Rows rows;
    for (const Comparison::Row& row : comparison.rows | std::views::take(most_rows)) {
      rows.push_back({escaped(row.limit), escaped(row.route), grouped(row.newly_denied), grouped(row.newly_admitted)});
    }
    if (!rows.empty()) {
      text_ += "<h4>Where they differ</h4>\n";
      text_ += html_table("limit:l name|route:l name|newly denied|newly admitted", rows);
    }
    for (const auto& of : comparison.newly_denied_by) {
      text_ += consumers_table("Newly denied by " + of.limit, of.consumers, "denied");
    }
    for (const auto& of : comparison.newly_admitted_by) {
      text_ += consumers_table("No longer denied by " + of.limit, of.consumers, "admitted");
    }
    text_ += "</section>\n";
  }

  void nodes(const NodesReport& nodes) {
    text_ += fmt::format("<h2>{}</h2>\n<section class=\"card\">", escaped(title_of(nodes)));
    text_ += fmt::format("<p><b>{}</b> newly denied, <b>{}</b> newly admitted, against one exact store. {}.</p>\n",
                         counted(nodes.newly_denied, "request", "requests"), grouped(nodes.newly_admitted),
                         escaped(traffic_of(nodes)));
    Rows rows;
    for (const NodesReport::OfLimit& of : nodes.limits) {
      rows.push_back({escaped(of.name), escaped(of.consistency), grouped(of.exact_denied), grouped(of.denied),
                      grouped(of.newly_denied), grouped(of.denied_by_held), grouped(of.newly_admitted),
                      of.over ? grouped(*of.over) : "-", percent(of.without_trip, of.judged), grouped(of.messages)});
    }
    text_ += html_table(
        "limit:l name|decided:l|denied by exact|by the nodes|newly denied|denied while nodes held enough|newly "
        "admitted|over|without a trip|messages",
        rows);
    text_ += "</section>\n";
  }

  void estimates() {
    text_ += "<h2>Costs that are known at the end</h2>\n<section class=\"card\">";
    Rows requests;
    for (const EstimateReport& of : report_.estimates) {
      requests.push_back({escaped(of.estimate), grouped(of.admitted), grouped(of.denied), grouped(of.newly_denied),
                          grouped(of.newly_admitted)});
    }
    text_ += html_table("estimate:l|admitted|denied|newly denied|newly admitted", requests);
    for (std::size_t limit = 0; limit < report_.estimates[0].limits.size(); ++limit) {
      Rows rows;
      for (const EstimateReport& estimate : report_.estimates) {
        const EstimateReport::OfLimit& of = estimate.limits[limit];
        rows.push_back({escaped(estimate.estimate), grouped(of.denied), grouped(of.reserved), grouped(of.spent),
                        grouped(of.given_back), rounded(of.wasted), grouped(of.overspent), grouped(of.not_kept)});
      }
      text_ += fmt::format("<h4>{}</h4>\n", escaped(report_.estimates[0].limits[limit].name));
      text_ += html_table("estimate:l|denied|reserved|spent|given back|wasted|overspent|no receipt", rows);
    }
    text_ += "<p class=\"small soft\">";
    for (const std::string& words : words_on_estimates()) text_ += escaped(words) + " ";
    text_ += "</p></section>\n";
  }

  void agreement(const std::vector<html::Part>& parts) {
    text_ += html::stacked_bar(parts) + "<div class=\"legend\">";
    for (const html::Part& part : parts) {
      text_ += fmt::format("<span><i class=\"{}\"></i>{}: {}</span>", part.css_class, part.label, grouped(part.count));
    }
    text_ += "</div>\n";
  }

  void limits() {
    if (report_.policy.limits.empty()) return;
    text_ += "<h2>Limits</h2>\n";
    for (const LimitReport& of : report_.policy.limits) limit(of);
  }

  void limit(const LimitReport& limit) {
    const LimitCounts& counts = limit.counts;
    text_ += fmt::format("<section class=\"card\"><h3>{}</h3><p class=\"soft small\">{}, {}, by {}{}</p>\n",
                         escaped(limit.name), escaped(limit.algorithm), escaped(limit.numbers),
                         escaped(limit.consumer_key), limit.mode == "shadow" ? ", shadow: it never denies" : "");
    std::vector<html::Part> parts{{"admitted", counts.of(Event::admitted), "admitted"},
                                  {"denied", counts.denied(), "denied"},
                                  {"denied", counts.of(Event::shadow_denied), "denied in the shadow"},
                                  {"soft-denied", counts.of(Event::warned), "warned"},
                                  {"soft-admitted", counts.of(Event::uncharged), "denied by another limit"}};
    parts.erase(std::remove_if(parts.begin() + 2, parts.end(), [](const auto& part) { return part.count == 0; }),
                parts.end());
    agreement(parts);
    text_ += fmt::format("<p class=\"small soft\">Busiest second {}, busiest minute {}, mean {}/s.</p>\n",
                         grouped(limit.pace.second.count), grouped(limit.pace.minute.count),
                         rounded(limit.pace.mean_per_second));
    for (const Demand& of : limit.demand) demand(limit, of);
    if (limit.candidate) candidate(*limit.candidate);
    routes_of(limit);
    text_ += consumers_table("Denied most", limit.hardest_hit, "denied") + "</section>\n";
  }

  void demand(const LimitReport& limit, const Demand& demand) {
    const bool names_tier = limit.demand.size() > 1;
    text_ += fmt::format("<h4>What each consumer needed at its worst{}</h4>\n",
                         names_tier ? ": tier " + escaped(demand.tier) + ", " + escaped(demand.numbers) : "");
    text_ += fmt::format(
        "<p class=\"small soft\">{} of {} consumers{} fit as it is. Counted as if nothing had been denied{}.</p>\n",
        percent(demand.satisfied, demand.consumers), grouped(demand.consumers),
        demand.one_in > 1 ? fmt::format(" (a sample, one in {})", grouped(demand.one_in)) : "",
        demand.upper_bound ? "; an upper bound, in steps of an eighth of the window" : "");
    if (demand.consumers > 1) text_ += html::demand_chart(demand, "Need per consumer of " + limit.name);
    text_ += needs_table(demand);
    if (demand.consumers > 1) text_ += numbers_of(demand);
  }

  void candidate(const CandidateReport& candidate) {
    text_ += fmt::format("<h4>Its candidate: {}, {}</h4>\n", escaped(candidate.algorithm), escaped(candidate.numbers));
    agreement({{"soft-admitted", candidate.agrees, "agrees"},
               {"denied", candidate.newly_denied, "newly denied"},
               {"admitted", candidate.newly_admitted, "newly admitted"}});
    text_ += consumers_table("Newly denied by the candidate", candidate.newly_denied_consumers, "denied");
    text_ += consumers_table("Newly admitted by the candidate", candidate.newly_admitted_consumers, "admitted");
  }

  void routes_of(const LimitReport& limit) {
    if (limit.routes.size() < 2) return;
    Rows rows;
    for (const auto& [route, counts] : limit.routes | std::views::take(most_rows)) {
      rows.push_back({escaped(route), grouped(counts.judged()), grouped(counts.denied()),
                      percent(counts.denied(), counts.judged())});
    }
    text_ += "<h4>By route</h4>\n";
    text_ += html_table("route:l name|judged|denied|share", rows);
  }

  void routes() {
    const auto& routes = report_.policy.routes;
    if (routes.empty()) return;
    text_ +=
        "<h2>Routes</h2>\n<section class=\"card\"><p class=\"small soft\">Peak over mean is how bursty a route is: its "
        "busiest second over its average.</p>\n";
    const std::uint64_t most = std::max<std::uint64_t>(1, routes.front().pace.requests);
    Rows rows;
    for (const RouteReport& route : routes | std::views::take(most_rows)) {
      rows.push_back({escaped(route.route),
                      html::stacked_bar({{"admitted", route.admitted, "admitted"},
                                         {"denied", route.denied, "denied"},
                                         {"rest", most - std::min(most, route.pace.requests), "fewer"}}),
                      grouped(route.pace.requests), grouped(route.denied), percent(route.denied, route.pace.requests),
                      rounded(route.pace.mean_per_second), grouped(route.pace.second.count),
                      rounded(route.pace.burst_ratio())});
    }
    text_ += html_table("route:l name|:l bars|requests|denied|share|mean/s|peak/s|peak over mean", rows);
    if (routes.size() > most_rows) text_ += fmt::format("<p class=\"soft\">and {} more</p>", routes.size() - most_rows);
    text_ += "</section>\n";
  }

  void log() {
    text_ +=
        fmt::format("<h2>The log</h2>\n<section class=\"card\"><p>{}, {}.</p><ul class=\"small\">\n",
                    counted(report_.log.lines, "line", "lines"), counted(report_.log.entries, "request", "requests"));
    for (const std::string& remark : remarks_on(report_.log)) text_ += "<li>" + escaped(remark) + "</li>\n";
    for (const FaultTally::Example& example : report_.log.examples) {
      text_ += fmt::format("<li class=\"soft\">line {}: {} <code>{}</code></li>\n", grouped(example.line_number),
                           escaped(describe(example.fault)), escaped(example.excerpt));
    }
    text_ += fmt::format("<li>consumers are {}</li>\n",
                         report_.shows_keys ? "shown by their keys" : "shown as hashes under a secret key");
    text_ += "</ul></section>\n";
  }

  const Report& report_;
  std::string text_;
};

}  // namespace

std::string report_html(const Report& report) {
  return Page(report).write();
}

}  // namespace weir::simulate
