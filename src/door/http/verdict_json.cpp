#include "door/http/verdict_json.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "door/answer.h"
#include "wire/json_text.h"

namespace weir::door {
namespace {

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// 12, 0.6, 0.000001
void append_seconds(std::string& out, Duration duration) {
  const auto microseconds = static_cast<std::uint64_t>(duration.count());
  append_number(out, microseconds / 1'000'000);
  std::uint64_t rest = microseconds % 1'000'000;
  if (rest == 0) return;
  std::array<char, 7> decimals{'.', '0', '0', '0', '0', '0', '0'};
  std::size_t size = 0;
  for (std::size_t at = 6; at > 0; --at, rest /= 10) {
    decimals[at] = static_cast<char>('0' + rest % 10);
    if (size == 0 && decimals[at] != '0') size = at + 1;
  }
  out.append(decimals.data(), size);
}

}  // namespace

void append_verdict(std::string& out, const Ruling& ruling, const engine::Verdict& verdict) {
  const bool has_limit = verdict.limit != engine::Verdict::no_limit;
  out += verdict.admitted ? R"({"admitted":true,"reason":")" : R"({"admitted":false,"reason":")";
  out += name_of(verdict.reason);
  out += R"(","limit":)";
  if (has_limit) {
    wire::append_json_text(out, limit_name(ruling, verdict));
    out += R"(,"quota":)";
    append_number(out, verdict.decision.limit);
    out += R"(,"remaining":)";
    append_number(out, verdict.decision.remaining);
  } else {
    out += "null";
  }
  out += R"(,"retry_after":)";
  if (verdict.retry_after) {
    append_seconds(out, *verdict.retry_after);
  } else {
    out += "null";
  }
  out += R"(,"reset_after":)";
  append_seconds(out, verdict.decision.reset_after);
  out += R"(,"delay":)";
  append_seconds(out, verdict.delay);
  out += R"(,"route":)";
  wire::append_json_text(out, verdict.route);
  out += R"(,"tier":)";
  wire::append_json_text(out, ruling.plan().ruleset().tiers.names[verdict.tier]);
  out += '}';
}

}  // namespace weir::door
