#include "door/descriptor_ruling.h"

#include <algorithm>
#include <array>
#include <vector>

#include "table/together.h"
#include "wire/fields/delta_seconds.h"
#include "wire/problem.h"

namespace weir::door {
namespace {

using engine::DescriptorAsk;
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

bool allows_nothing(const DescriptorAsk& ask) noexcept {
  return ask.limit_override && ask.limit_override->limit == 0;
}

bool denies(const DescriptorAsk& ask) noexcept {
  return allows_nothing(ask) && ask.hits > Cost{0};
}

// No limit of nothing can be judged: the others are asked, and if it denies only looked at. `looks` is room for that.
std::span<const DescriptorAsk> askable(std::span<const DescriptorAsk> asks, std::vector<DescriptorAsk>& looks) {
  if (std::ranges::none_of(asks, allows_nothing)) return asks;
  const bool denied = std::ranges::any_of(asks, denies);
  looks.assign(asks.begin(), asks.end());
  for (DescriptorAsk& look : looks) {
    if (denied) look.hits = Cost{0};
    if (allows_nothing(look)) look = {};
  }
  return looks;
}

// The same, kept in the arena.
std::span<const DescriptorAsk> askable(std::span<const DescriptorAsk> asks, QuestionArena& arena) {
  std::vector<DescriptorAsk> looks;
  const std::span<const DescriptorAsk> found = askable(asks, looks);
  return looks.empty() ? found : arena.keep(found);
}

// What those say that allow nothing. True if none of them denies.
bool say_nothing_is_allowed(std::span<const DescriptorAsk> asks, std::span<DescriptorStatus> statuses) noexcept {
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (!allows_nothing(asks[i])) continue;
    statuses[i].kind = DescriptorStatus::Kind::limited;
    statuses[i].numbers = *asks[i].limit_override;
    statuses[i].admitted = statuses[i].decision.admitted = asks[i].hits == Cost{0};
    statuses[i].decision.retry_after = std::nullopt;
  }
  return std::ranges::none_of(asks, denies);
}

}  // namespace

const DescriptorStatus* DescriptorRuling::tightest() const noexcept {
  const DescriptorStatus* found = nullptr;
  for (const DescriptorStatus& status : statuses) {
    if (status.kind != DescriptorStatus::Kind::limited) continue;
    if (found == nullptr || is_tighter(status, *found)) found = &status;
  }
  return found;
}

DescriptorRuling judge_descriptors(Desk& desk, const DescriptorQuestion& question, Instant now,
                                   std::span<DescriptorStatus> room) {
  const std::span statuses = room.first(question.asks.size());
  DescriptorRuling ruling{desk.judge().hold(), question.domain, statuses, true, now};
  std::vector<DescriptorAsk> looks;
  ruling.admitted = desk.judge().judge(question.domain, askable(question.asks, looks), now, statuses);
  ruling.admitted = say_nothing_is_allowed(question.asks, statuses) && ruling.admitted;
  return ruling;
}

void DescriptorRulings::add(const DescriptorQuestion& question, QuestionArena& arena) {
  cases_.push_back({question.domain, askable(question.asks, arena), {}});
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

DescriptorRuling DescriptorRulings::ruling(std::size_t number, const DescriptorQuestion& question) {
  const engine::DescriptorCase& asked = cases_[number];
  const bool allowed = say_nothing_is_allowed(question.asks, asked.statuses);
  return {{}, question.domain, asked.statuses, allowed && asked.admitted, now_};
}

void add_descriptors(engine::Hearing& hearing, const DescriptorQuestion& question, QuestionArena& arena) {
  hearing.add(question.domain, askable(question.asks, arena));
}

DescriptorRuling heard_descriptors(const engine::Hearing& hearing, std::size_t number,
                                   const DescriptorQuestion& question, std::span<DescriptorStatus> room) {
  DescriptorRuling ruling{
      {}, question.domain, hearing.statuses(number), hearing.admitted(number), hearing.judged_at(number)};
  if (std::ranges::none_of(question.asks, allows_nothing)) return ruling;
  const std::span statuses = room.first(question.asks.size());
  std::ranges::copy(ruling.statuses, statuses.begin());
  ruling.admitted = say_nothing_is_allowed(question.asks, statuses) && ruling.admitted;
  ruling.statuses = statuses;
  return ruling;
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
  wire::append_problem(out, {.violated_policies = std::span(names).first(count),
                             .limit = tightest->decision.limit,
                             .retry_after = tightest->decision.retry_after,
                             .reset_at = wire::later(ruling.now, tightest->decision.reset_after)});
}

}  // namespace weir::door
