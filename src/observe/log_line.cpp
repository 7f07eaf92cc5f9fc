#include "observe/log_line.h"

#include <array>
#include <chrono>
#include <cstddef>

#include "text/date.h"
#include "text/decimal.h"
#include "text/json.h"

namespace weir::observe {
namespace {

constexpr std::size_t longest_method = 32;

// RFC 3339, in UTC, to the microsecond.
void append_time(std::string& out, Instant time) {
  using text::write_padded;
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const text::UtcTime utc = text::utc_time(second);
  std::array<char, 27> text{'0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 'T', '0', '0', ':',
                            '0', '0', ':', '0', '0', '.', '0', '0', '0', '0', '0', '0', 'Z'};
  text::write_padded(text.data(), utc.year, 4);
  text::write_padded(text.data() + 5, utc.month, 2);
  text::write_padded(text.data() + 8, utc.day, 2);
  text::write_padded(text.data() + 11, utc.hour, 2);
  text::write_padded(text.data() + 14, utc.minute, 2);
  text::write_padded(text.data() + 17, utc.second, 2);
  text::write_padded(text.data() + 20, static_cast<unsigned>((time - second).count()), 6);
  out.append(text.data(), text.size());
}

void begin_line(std::string& out, Instant time) {
  out += R"({"time":")";
  append_time(out, time);
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

// In seconds; null: never.
void append_wait(std::string& out, const std::optional<Duration>& wait) {
  append_name(out, "retry_after");
  if (wait) {
    text::append_decimal(out, static_cast<std::uint64_t>(wait->count()), 6);
  } else {
    out += "null";
  }
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
  append_field(out, "method", denial.method.substr(0, longest_method));
  append_field(out, "route", denial.route);
  append_field(out, "tier", denial.tier);
  append_field(out, "consumer", denial.consumer);
  if (denial.address) append_field(out, "ip", truncated(*denial.address));
  append_field(out, "cost", denial.cost.units());
  append_wait(out, denial.decision.retry_after);
  append_field(out, "quota", denial.decision.limit);
  append_field(out, "remaining", denial.decision.remaining);
  append_field(out, "trace_id", denial.trace_id);
  append_field(out, "request_id", denial.request_id);
  end_line(out);
}

void append_change(std::string& out, Instant time, const MadeChange& change) {
  begin_line(out, time);
  append_field(out, "event", "change");
  append_field(out, "what", change.what);
  append_field(out, "limit", change.limit);
  append_field(out, "consumer", change.consumer);
  append_field(out, "outcome", change.outcome);
  end_line(out);
}

void append_spike(std::string& out, Instant time, const SpikeLine& spike) {
  begin_line(out, time);
  append_field(out, "event", "spike");
  append_field(out, "limit", spike.limit);
  append_field(out, "consumer", spike.consumer);
  append_field(out, "rate", static_cast<std::uint64_t>(spike.rate + 0.5));
  append_field(out, "past", static_cast<std::uint64_t>(spike.past + 0.5));
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
