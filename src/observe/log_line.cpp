#include "observe/log_line.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "base/ascii.h"
#include "base/hex.h"
#include "match/caller.h"
#include "text/date.h"
#include "text/decimal.h"
#include "text/json.h"

namespace weir::observe {
namespace {

constexpr std::size_t max_method_length = 32;

void begin_line(std::string& out, Instant time) {
  out += R"({"time":")";
  const text::Rfc3339Micros written = text::rfc3339_micros(time);
  out.append(written.data(), written.size());
  out += '"';
}

void end_line(std::string& out) {
  out += "}\n";
}

void append_name(std::string& out, std::string_view name) {
  out += ",\"";
  out += name;
  out += "\":";
}

void append_field(std::string& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  append_name(out, name);
  text::append_json_text(out, text);
}

void append_field(std::string& out, std::string_view name, std::uint64_t number) {
  append_name(out, name);
  text::append_number(out, number);
}

// Appends retry_after in seconds, or null if a retry never helps.
void append_wait(std::string& out, const std::optional<Duration>& wait) {
  append_name(out, "retry_after");
  if (wait) {
    text::append_decimal(out, static_cast<std::uint64_t>(wait->count()), 6);
  } else {
    out += "null";
  }
}

constexpr std::size_t max_request_id_length = 128;

bool is_hexadecimal(std::string_view text) noexcept {
  return std::ranges::all_of(text, base::is_lower_hex_digit);
}

// True for a valid trace or span id: lower-case hexadecimal digits that are not all zeros.
bool is_id(std::string_view text) noexcept {
  return is_hexadecimal(text) && text.find_first_not_of('0') != std::string_view::npos;
}

// The format is VERSION-TRACE-PARENT-FLAGS. Later versions may append more; ff is not a valid version.
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
  return !value.empty() && value.size() <= max_request_id_length && std::ranges::all_of(value, [&](char c) {
    return base::is_letter_or_digit(c) || marks.find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string_view name_of(Level level) noexcept {
  constexpr std::array<std::string_view, 3> names{"info", "warning", "error"};
  return names[static_cast<std::size_t>(level)];
}

void append_message(std::string& out, Instant time, Level level, std::string_view message) {
  begin_line(out, time);
  append_field(out, "level", name_of(level));
  append_field(out, "message", message);
  end_line(out);
}

void append_denial(std::string& out, const Denial& denial) {
  begin_line(out, denial.time);
  append_field(out, "event", "denied");
  append_field(out, "reason", denial.reason);
  append_field(out, "limit", denial.limit);
  append_field(out, "method", denial.method.substr(0, max_method_length));
  append_field(out, "route", denial.route);
  append_field(out, "tier", denial.tier);
  append_field(out, "consumer", denial.consumer);
  if (denial.address) append_field(out, "ip", truncated(*denial.address));
  append_field(out, "cost", denial.cost.units());
  append_wait(out, denial.decision.retry_after);
  append_field(out, "quota", denial.decision.limit);
  append_field(out, "remaining", denial.decision.remaining);
  append_field(out, denial.limit.empty() ? "block" : "override", denial.exception);
  append_field(out, "trace_id", denial.trace_id);
  append_field(out, "request_id", denial.request_id);
  end_line(out);
}

TraceIds trace_ids(const Query& query) noexcept {
  const std::string_view request_id = match::sole_header(query, "x-request-id");
  return {trace_id_in(match::sole_header(query, "traceparent")),
          is_request_id(request_id) ? request_id : std::string_view{}};
}

void append_change(std::string& out, Instant time, const MadeChange& change) {
  begin_line(out, time);
  append_field(out, "event", "change");
  append_field(out, "what", change.what);
  append_field(out, "limit", change.limit);
  append_field(out, "consumer", change.consumer);
  append_field(out, "outcome", change.outcome);
  append_field(out, "id", change.id);
  append_field(out, "by", change.by);
  end_line(out);
}

void append_spike(std::string& out, Instant time, const SpikeLine& spike) {
  begin_line(out, time);
  append_field(out, "event", "spike");
  append_field(out, "limit", spike.limit);
  append_field(out, "consumer", spike.consumer);
  append_field(out, "rate", static_cast<std::uint64_t>(spike.rate + 0.5));
  append_field(out, "past", static_cast<std::uint64_t>(spike.past + 0.5));
  append_field(out, "seconds", std::uint64_t{spike.seconds});
  end_line(out);
}

void append_suppressed(std::string& out, Instant time, std::uint64_t count) {
  begin_line(out, time);
  append_field(out, "event", "suppressed");
  append_field(out, "count", count);
  end_line(out);
}

std::string truncated(const text::Address& address) {
  const bool is_v6 = address.family == text::Address::Family::v6;
  return address.network(is_v6 ? 48 : 24).text() + (is_v6 ? "/48" : "/24");
}

}  // namespace weir::observe
