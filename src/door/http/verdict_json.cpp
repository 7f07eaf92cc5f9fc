#include "door/http/verdict_json.h"

#include <cstdint>

#include "door/answer.h"
#include "wire/decimal.h"
#include "wire/json_text.h"

namespace weir::door {
namespace {

// 12, 0.6, 0.000001
void append_seconds(std::string& out, Duration duration) {
  wire::append_decimal(out, static_cast<std::uint64_t>(duration.count()), 6);
}

}  // namespace

void append_verdict(std::string& out, const Ruling& ruling, const engine::Verdict& verdict) {
  const bool has_limit = verdict.limit != engine::Verdict::no_limit;
  out += verdict.admitted ? R"({"admitted":true,"reason":")" : R"({"admitted":false,"reason":")";
  out += name_of(verdict.reason);
  out += R"(","limit":)";
  if (has_limit) {
    wire::append_json_text(out, limit_name(ruling, verdict));
  } else {
    out += "null";
  }
  if (verdict.reason == engine::Reason::key_missing) {
    out += R"(,"missing":)";
    wire::append_json_text(out, missing_identity(ruling, verdict));
  }
  if (has_limit && !engine::is_outright(verdict.reason)) {
    out += R"(,"quota":)";
    wire::append_number(out, verdict.decision.limit);
    out += R"(,"remaining":)";
    wire::append_number(out, verdict.decision.remaining);
  }
  out += R"(,"retry_after":)";
  if (verdict.retry_after) {
    append_seconds(out, *verdict.retry_after);
  } else {
    out += "null";
  }
  out += R"(,"reset_after":)";
  if (engine::is_outright(verdict.reason)) {
    out += "null";
  } else {
    append_seconds(out, verdict.decision.reset_after);
  }
  out += R"(,"delay":)";
  append_seconds(out, verdict.delay);
  out += R"(,"route":)";
  wire::append_json_text(out, verdict.route);
  out += R"(,"tier":)";
  wire::append_json_text(out, ruling.plan().ruleset().tiers.names[verdict.tier]);
  out += '}';
}

}  // namespace weir::door
