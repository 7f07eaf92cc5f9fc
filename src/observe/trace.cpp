#include "observe/trace.h"

#include <algorithm>
#include <cstddef>

#include "match/caller.h"

namespace weir::observe {
namespace {

constexpr std::size_t longest_request_id = 128;

bool is_hexadecimal(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Lower case, and not all noughts.
bool is_id(std::string_view text) noexcept {
  return is_hexadecimal(text) && text.find_first_not_of('0') != std::string_view::npos;
}

// VERSION-TRACE-PARENT-FLAGS. Versions to come may have more behind it, ff is none.
std::string_view trace_id_in(std::string_view value) noexcept {
  constexpr std::size_t length = 55;
  if (value.size() < length || value[2] != '-' || value[35] != '-' || value[52] != '-') return {};
  const std::string_view version = value.substr(0, 2);
  const bool has_more = value.size() > length;
  if (!is_hexadecimal(version) || version == "ff" || (has_more && (version == "00" || value[length] != '-'))) return {};
  if (!is_id(value.substr(3, 32)) || !is_id(value.substr(36, 16)) || !is_hexadecimal(value.substr(53, 2))) return {};
  return value.substr(3, 32);
}

bool is_request_id(std::string_view value) noexcept {
  constexpr std::string_view marks = "-_.:=+/@";
  return !value.empty() && value.size() <= longest_request_id && std::ranges::all_of(value, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  });
}

}  // namespace

TraceIds trace_ids(const match::Query& query) noexcept {
  const std::string_view request_id = match::sole_header(query, "x-request-id");
  return {trace_id_in(match::sole_header(query, "traceparent")),
          is_request_id(request_id) ? request_id : std::string_view{}};
}

}  // namespace weir::observe
