#include "simulate/line_fault.h"

#include <algorithm>
#include <numeric>

namespace weir::simulate {
namespace {

char printable(char c) noexcept {
  return c >= ' ' && c <= '~' ? c : '?';
}

}  // namespace

std::string_view describe(Fault fault) noexcept {
  switch (fault) {
    case Fault::no_address:
      return "the line does not begin with an address, an identity and a user";
    case Fault::no_time:
      return "there is no time";
    case Fault::bad_time:
      return "the time is unreadable";
    case Fault::no_quoted_request:
      return "there is no request in quotes after the time";
    case Fault::no_request:
      return "the client sent no request";
    case Fault::bad_request:
      return "the request is not METHOD TARGET PROTOCOL";
    case Fault::not_json:
      return "the line is not a well-formed JSON object";
  }
  return "unknown";
}

void FaultTally::add(Fault fault, std::uint64_t line_number, std::string_view line) {
  ++counts_[static_cast<std::size_t>(fault)];
  if (examples_.size() >= most_examples) return;
  std::string excerpt(line.substr(0, longest_excerpt));
  std::ranges::transform(excerpt, excerpt.begin(), printable);
  examples_.push_back({line_number, fault, std::move(excerpt)});
}

std::uint64_t FaultTally::total() const noexcept {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

}  // namespace weir::simulate
