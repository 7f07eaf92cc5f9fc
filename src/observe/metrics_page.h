// Writes a page of metrics in Prometheus's text format, version 0.0.4, from top to bottom.
//
// No client library is used: the counters live in the memory of each loop, so a registry would be a second copy of
// them, with floating-point numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.h"
#include "observe/scales.h"

namespace weir::observe {

class MetricsPage {
 public:
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  enum class Type : std::uint8_t { counter, gauge, histogram };

  struct Label {
    std::string_view name;
    std::string_view value;  // any text
  };
  using Labels = std::initializer_list<Label>;

  // The samples that follow belong to this family, which must be written only once. `name` is not copied.
  void family(std::string_view name, Type type, std::string_view help);

  // A family with one sample, which has no labels.
  void single(std::string_view name, Type type, std::string_view help, std::uint64_t number, unsigned places = 0);

  // `number` / 10^`places`.
  void sample(Labels labels, std::uint64_t number, unsigned places = 0);
  void signed_sample(Labels labels, std::int64_t number, unsigned places = 0);

  template <std::size_t Bounds>
  void histogram(Labels labels, const base::Scale<Bounds>& scale, const base::HistogramTotals<Bounds>& totals) {
    histogram(labels, scale.places, scale.bounds, totals.counts, totals.sum);
  }

  [[nodiscard]] std::string take() noexcept { return std::move(text_); }

 private:
  void histogram(Labels labels, unsigned places, std::span<const std::uint64_t> bounds,
                 std::span<const std::uint64_t> counts, std::uint64_t sum);
  void append_sample(std::string_view suffix, Labels labels, std::string_view bound, std::uint64_t number,
                     unsigned places);
  void append_name(std::string_view suffix, Labels labels, std::string_view bound);
  void append_label(const Label& label, bool first);

  std::string_view family_;
  std::string text_;
};

}  // namespace weir::observe
