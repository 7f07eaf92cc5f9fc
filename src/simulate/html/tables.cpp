#include "simulate/html/tables.h"

#include <algorithm>

#include <fmt/core.h>

#include "simulate/html/charts.h"
#include "simulate/html/escape.h"
#include "simulate/report_words.h"

namespace weir::simulate::html {
namespace {

std::string details(const std::string& inside) {
  return "<details><summary>The numbers</summary><div class=\"scroll\">" + inside + "</div></details>\n";
}

}  // namespace

std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"scroll\"><table><thead><tr>";
  for (const Column& column : columns) {
    text += fmt::format(R"(<th scope="col" class="{}">{}</th>)", column.css_class, escaped(column.title));
  }
  text += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += fmt::format(R"(<td class="{}">{}</td>)", columns[i].css_class, i < row.size() ? row[i] : "");
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string numbers_of(const Timeline& timeline) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < timeline.bins().size(); ++i) {
    const Timeline::Bin& bin = timeline.bins()[i];
    const Instant at = timeline.start() + timeline.width() * static_cast<Duration::rep>(i);
    rows.push_back({time_text(at), grouped(bin.admitted), grouped(bin.denied)});
  }
  return details(table({{"from (UTC)", "l"}, {"admitted", ""}, {"denied", ""}}, rows));
}

std::string numbers_of(const Demand& demand) {
  std::vector<std::vector<std::string>> rows;
  for (const Demand::Bar& bar : demand.bars) {
    rows.push_back({grouped(bar.from), grouped(bar.to), grouped(bar.consumers)});
  }
  return details(table({{demand.word + " needed, from", ""}, {"to", ""}, {"consumers", ""}}, rows));
}

std::string needs_table(const Demand& demand) {
  std::vector<std::vector<std::string>> rows;
  for (const Demand::AtRate& rate : demand.rates) {
    rows.push_back({escaped(rate.rate), escaped(need_text(demand, rate.number.half)),
                    escaped(need_text(demand, rate.number.p99)), escaped(need_text(demand, rate.number.p999)),
                    escaped(need_text(demand, rate.number.all))});
  }
  return table({{"at a rate of", "l"}, {"for 50 %", ""}, {"for 99 %", ""}, {"for 99.9 %", ""}, {"for all", ""}}, rows);
}

std::string consumers_table(const std::string& title, const HardestHit& hit, const char* bar_class) {
  if (hit.consumers.empty()) return {};
  std::uint64_t most = 1;
  for (const auto& consumer : hit.consumers) most = std::max(most, consumer.count);
  std::vector<std::vector<std::string>> rows;
  for (const auto& consumer : hit.consumers) {
    const std::string error = consumer.error > 0 ? " to " + grouped(consumer.count + consumer.error) : "";
    rows.push_back({"<code>" + escaped(consumer.name) + "</code>",
                    stacked_bar({{bar_class, consumer.count, "requests"}, {"rest", most - consumer.count, "fewer"}}),
                    grouped(consumer.count) + error, percent(consumer.count, hit.total)});
  }
  return fmt::format("<h4>{}</h4><p class=\"small soft\">{} of {}{} {}</p>", escaped(title),
                     counted(hit.total, "request", "requests"), hit.exact ? "" : "about ", grouped(hit.affected),
                     hit.affected == 1 ? "consumer" : "consumers") +
         table({{"consumer", "l name"}, {"", "l bars"}, {"requests", ""}, {"share", ""}}, rows);
}

}  // namespace weir::simulate::html
