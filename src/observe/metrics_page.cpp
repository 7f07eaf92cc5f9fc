#include "observe/metrics_page.h"

#include <array>

#include "text/decimal.h"

namespace weir::observe {
namespace {

constexpr std::array<std::string_view, 3> type_names{"counter", "gauge", "histogram"};  // indexed by MetricsPage::Type

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out.push_back('\\');
    out.push_back(c);
  }
}

}  // namespace

void MetricsPage::family(std::string_view name, Type type, std::string_view help) {
  family_ = name;
  for (const auto& [word, text] :
       {std::pair{"# HELP ", help}, std::pair{"# TYPE ", type_names[static_cast<std::size_t>(type)]}}) {
    text_ += word;
    text_ += name;
    text_ += ' ';
    text_ += text;
    text_ += '\n';
  }
}

void MetricsPage::single(std::string_view name, Type type, std::string_view help, std::uint64_t number,
                         unsigned places) {
  family(name, type, help);
  sample({}, number, places);
}

void MetricsPage::sample(Labels labels, std::uint64_t number, unsigned places) {
  append_sample({}, labels, {}, number, places);
}

void MetricsPage::signed_sample(Labels labels, std::int64_t number, unsigned places) {
  append_name({}, labels, {});
  if (number < 0) text_ += '-';
  const auto bits = static_cast<std::uint64_t>(number);
  text::append_decimal(text_, number < 0 ? -bits : bits, places);
  text_ += '\n';
}

void MetricsPage::histogram(Labels labels, unsigned places, std::span<const std::uint64_t> bounds,
                            std::span<const std::uint64_t> counts, std::uint64_t sum) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    std::string bound = "+Inf";
    if (i < bounds.size()) {
      bound.clear();
      text::append_decimal(bound, bounds[i], places);
    }
    append_sample("_bucket", labels, bound, below, 0);
  }
  append_sample("_sum", labels, {}, sum, places);
  append_sample("_count", labels, {}, below, 0);
}

void MetricsPage::append_sample(std::string_view suffix, Labels labels, std::string_view bound, std::uint64_t number,
                                unsigned places) {
  append_name(suffix, labels, bound);
  text::append_decimal(text_, number, places);
  text_ += '\n';
}

void MetricsPage::append_name(std::string_view suffix, Labels labels, std::string_view bound) {
  text_ += family_;
  text_ += suffix;
  bool first = true;
  for (const Label& label : labels) append_label(label, std::exchange(first, false));
  if (!bound.empty()) append_label({"le", bound}, std::exchange(first, false));
  text_ += first ? " " : "} ";
}

void MetricsPage::append_label(const Label& label, bool first) {
  text_ += first ? '{' : ',';
  text_ += label.name;
  text_ += "=\"";
  append_escaped(text_, label.value);
  text_ += '"';
}

}  // namespace weir::observe
