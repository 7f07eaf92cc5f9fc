#include "door/descriptor_ruling.h"

#include <algorithm>
#include <array>
#include <vector>

#include "door/answer.h"
#include "table/together.h"
#include "wire/fields/delta_seconds.h"
#include "wire/problem.h"

namespace weir::door {
namespace {

using engine::DescriptorStatus;

bool waits_longer(const Decision& one, const Decision& other) noexcept {
  if (!one.retry_after || !other.retry_after) return !one.retry_after && other.retry_after;
  return *one.retry_after > *other.retry_after;
}

bool is_tighter(const DescriptorStatus& one, const DescriptorStatus& other) noexcept {
  if (one.admitted != other.admitted) return !one.admitted;
  if (!one.admitted) return waits_longer(one.decision, other.decision);
  __extension__ using Wide = unsigned __int128;
  return Wide{one.decision.remaining} * other.decision.limit < Wide{other.decision.remaining} * one.decision.limit;
}

}  // namespace

const DescriptorStatus* DescriptorRuling::tightest() const noexcept {
  const DescriptorStatus* found = nullptr;
  for (const DescriptorStatus& status : statuses) {
    if (status.kind != DescriptorStatus::Kind::limited) continue;
    if (admitted && !status.admitted) continue;  // a quota that another one stands for
    if (found == nullptr || is_tighter(status, *found)) found = &status;
  }
  return found;
}

DescriptorRuling judge_descriptors(Desk& desk, const DescriptorQuestion& question, Instant now,
                                   std::span<DescriptorStatus> room) {
  const std::span statuses = room.first(question.asks.size());
  DescriptorRuling ruling{desk.judge().hold(), question.domain, statuses, true, now};
  ruling.admitted = desk.judge().judge(question.domain, question.asks, now, statuses);
  return ruling;
}

void DescriptorRulings::add(const DescriptorQuestion& question) {
  cases_.push_back({question.domain, question.asks, {}});
}

void DescriptorRulings::judge(Desk& desk, Instant now) {
  std::size_t count = 0;
  for (const engine::DescriptorCase& asked : cases_) count += asked.asks.size();
  if (statuses_.size() < count) statuses_.resize(count);
  std::span rest(statuses_);
  for (engine::DescriptorCase& asked : cases_) {
    asked.statuses = rest.first(asked.asks.size());
    rest = rest.subspan(asked.asks.size());
  }
  now_ = now;
  desk.judge().judge(cases_, now);
}

DescriptorRuling DescriptorRulings::ruling(std::size_t number) const {
  const engine::DescriptorCase& asked = cases_[number];
  return {{}, asked.domain, asked.statuses, asked.admitted, now_};
}

void add_descriptors(engine::Hearing& hearing, const DescriptorQuestion& question) {
  hearing.add(question.domain, question.asks);
}

DescriptorRuling heard_descriptors(const engine::Hearing& hearing, std::size_t number, std::string_view domain) {
  return {{}, domain, hearing.statuses(number), hearing.admitted(number), hearing.judged_at(number)};
}

std::string_view limit_name(const DescriptorRuling& ruling, const DescriptorStatus& status) noexcept {
  return status.name.empty() ? ruling.domain : status.name;
}

std::optional<wire::AnswerFields> answer_fields(const DescriptorRuling& ruling) {
  const DescriptorStatus* const status = ruling.tightest();
  if (status == nullptr) return {};
  wire::AnswerFields fields;
  fields.policy = limit_name(ruling, *status);
  fields.quota = status->decision.limit;
  fields.window = status->numbers.window;
  fields.remaining = status->decision.remaining;
  if (status->decision.remaining < status->decision.limit) fields.until_more = status->decision.reset_after;
  fields.reset_after = status->decision.reset_after;
  if (!ruling.admitted) fields.retry_after = status->decision.retry_after;
  return fields;
}

void append_denial(std::string& out, const DescriptorRuling& ruling) {
  const DescriptorStatus* const tightest = ruling.tightest();
  if (tightest == nullptr) return;
  std::array<std::string_view, table::most_together> names;
  std::size_t count = 0;
  names[count++] = limit_name(ruling, *tightest);
  for (const DescriptorStatus& status : ruling.statuses) {
    const std::string_view name = limit_name(ruling, status);
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
    if (!status.admitted && std::find(names.begin(), end, name) == end) names[count++] = name;
  }
  const bool banned = tightest->numbers.limit == 0;
  wire::append_problem(out, {.type = banned ? wire::ProblemType::forbidden : wire::ProblemType::quota_exceeded,
                             .violated_policies = std::span(names).first(count),
                             .limit = tightest->decision.limit,
                             .retry_after = tightest->decision.retry_after,
                             .reset_at = wire::later(ruling.now, tightest->decision.reset_after),
                             .detail = banned ? banned_sentence : std::string_view{}});
}

}  // namespace weir::door
