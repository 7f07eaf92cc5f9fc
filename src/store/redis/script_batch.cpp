#include "store/redis/script_batch.h"

#include <algorithm>
#include <vector>

#include "store/redis/replay.h"
#include "store/redis/script.h"
#include "store/redis/script_argument.h"
#include "store/redis/script_plan.h"

namespace weir::store::redis {

struct ScriptBatch::Contents {
  ScriptPlan plan;
  std::vector<Group*> groups;
  ScriptArgument argument;

  Replay replay;
  std::vector<LogExcerpt::Point> points;
  std::vector<std::uint64_t> admitted;  // result of each evaluation, as replayed
  std::vector<bool> doubtful;           // by key: true if the script and the replay disagree on it
  std::vector<std::uint32_t> keys;      // keys of the checks of one group
  std::vector<std::uint64_t> charges;   // returned by the script, in the order of the checks
  std::size_t charges_read = 0;
  std::vector<std::uint64_t> charged;  // units charged by the checks of one group

  [[nodiscard]] ScriptReplySizes sizes() const;
  bool place_states(const ScriptReply& reply);
  bool place_state(std::uint32_t key, const wire::resp::Reply& state);
  void place_receipts(const wire::resp::Reply& receipts);
  void place_slices(const wire::resp::Reply& slices);
  void replay_all();
  void replay_member(const ScriptPlan::Member& member);
  void read_charges(const ScriptPlan::Evaluation& evaluation);
  void find_doubtful(const ScriptReply& reply);
  void conclude(Instant now);
};

ScriptBatch::ScriptBatch() : contents_(std::make_unique<Contents>()) {}
ScriptBatch::~ScriptBatch() = default;
ScriptBatch::ScriptBatch(ScriptBatch&&) noexcept = default;
ScriptBatch& ScriptBatch::operator=(ScriptBatch&&) noexcept = default;

void ScriptBatch::clear() noexcept {
  contents_->plan.clear();
  contents_->groups.clear();
}

bool ScriptBatch::add(Group& group) {
  if (!contents_->plan.add(group)) return false;
  contents_->groups.push_back(&group);
  return true;
}

std::size_t ScriptBatch::groups() const noexcept {
  return contents_->groups.size();
}

std::size_t ScriptBatch::evaluations() const noexcept {
  return contents_->plan.evaluations().size();
}

std::size_t ScriptBatch::keys() const noexcept {
  return contents_->plan.keys();
}

std::span<Group* const> ScriptBatch::members() const noexcept {
  return contents_->groups;
}

std::string_view ScriptBatch::first_key() const noexcept {
  return contents_->plan.key(0);
}

void ScriptBatch::write(std::string& out, Form form) const {
  contents_->argument.prepare(contents_->plan);
  const bool by_digest = form == Form::by_digest;
  contents_->argument.write(out, by_digest ? "EVALSHA" : "EVAL", by_digest ? script_digest() : script_source(),
                            contents_->plan);
}

bool ScriptBatch::read(const wire::resp::Reply& reply) {
  Contents& contents = *contents_;
  contents.argument.prepare(contents.plan);
  const auto parsed = parse_script_reply(reply, contents.sizes());
  if (!parsed || !contents.place_states(*parsed)) return false;
  contents.replay_all();
  contents.find_doubtful(*parsed);
  contents.conclude(parsed->now);
  return true;
}

ScriptReplySizes ScriptBatch::Contents::sizes() const {
  ScriptReplySizes sizes{
      .plain_keys = argument.plain_keys(), .keys = argument.keys(), .evaluations = plan.evaluations().size()};
  for (const ScriptPlan::Evaluation& evaluation : plan.evaluations()) {
    if (!evaluation.has_receipts()) continue;
    sizes.charges += static_cast<std::size_t>(std::ranges::count_if(
        plan.checks_of(evaluation), [&](const auto& check) { return plan.returns_charge(evaluation, check); }));
  }
  return sizes;
}

// Returns false if the reply describes an impossible log.
bool ScriptBatch::Contents::place_states(const ScriptReply& reply) {
  replay.begin(reply.now, plan.keys());
  doubtful.assign(plan.keys(), false);
  std::size_t position = 0;
  for (const wire::resp::Reply state : reply.states) {
    if (!place_state(argument.key_at(position++), state)) return false;
  }
  if (reply.slices) place_slices(*reply.slices);
  if (reply.receipts) place_receipts(*reply.receipts);
  charges.clear();
  charges_read = 0;
  if (!reply.charges) return true;
  for (const wire::resp::Reply number : *reply.charges) charges.push_back(static_cast<std::uint64_t>(number.integer()));
  return true;
}

bool ScriptBatch::Contents::place_state(std::uint32_t key, const wire::resp::Reply& state) {
  const ScriptPlan::KeyUse& use = plan.use(key);
  if (state.is(wire::resp::ReplyType::null)) return true;
  if (use.rule == nullptr) return true;  // it is only forgotten
  if (!use.is_log) {
    doubtful[key] = !replay.place_text(key, *use.rule, state.text());
    return true;
  }
  const auto log = parse_log(state, points);
  if (log) replay.place_log(key, *log);
  return log.has_value();
}

void ScriptBatch::Contents::place_slices(const wire::resp::Reply& slices) {
  for (auto part = slices.begin(); part != slices.end(); ++part) {
    const std::uint32_t key = argument.key_at(static_cast<std::size_t>((*part).integer()) - 1);
    if (!replay.place_slices(key, (*++part).text())) doubtful[key] = true;
  }
}

void ScriptBatch::Contents::place_receipts(const wire::resp::Reply& receipts) {
  for (auto part = receipts.begin(); part != receipts.end(); ++part) {
    const std::uint32_t key = argument.key_at(static_cast<std::size_t>((*part).integer()) - 1);
    const core::Rule* const rule = plan.use(key).rule;
    ++part;
    if (rule == nullptr || !replay.place_receipts(key, *rule, (*part).text())) doubtful[key] = true;
  }
}

void ScriptBatch::Contents::replay_all() {
  admitted.assign(plan.evaluations().size(), 0);
  for (const ScriptPlan::Member& member : plan.members()) replay_member(member);
}

// Sets `charged` to what each check charged to its log. Leaves it empty if the script returned the logs as they were
// before the evaluation.
void ScriptBatch::Contents::read_charges(const ScriptPlan::Evaluation& evaluation) {
  charged.clear();
  if (!plan.corrects(evaluation)) return;
  for (const ScriptPlan::Check& check : plan.checks_of(evaluation)) {
    charged.push_back(plan.returns_charge(evaluation, check) ? charges[charges_read++] : 0);
  }
}

void ScriptBatch::Contents::replay_member(const ScriptPlan::Member& member) {
  Group& group = *member.group;
  const ScriptPlan::Evaluation& evaluation = plan.evaluations()[member.evaluation];
  keys.clear();
  for (const ScriptPlan::Check& check : plan.checks_of(evaluation)) keys.push_back(check.key);
  read_charges(evaluation);
  admitted[member.evaluation] += replay.decide(group, keys, charged);
  std::size_t report = member.evaluation - member.charges_back - member.exchanges;
  std::size_t charge_back = member.evaluation - member.charges_back;
  std::size_t grant = member.evaluation + 1;
  if (member.exchanges + member.charges_back == 0) return;
  for (const store::Check& check : group.checks) {
    const std::uint64_t owed = check.charge_back();
    if (owed > 0) admitted[charge_back++] = owed - check.extension->not_charged_back;
    const SliceExchange* const exchange = check.message();
    if (exchange == nullptr) continue;
    admitted[report++] = exchange->answer.taken ? 1 : 0;
    admitted[grant++] = exchange->answer.units;
  }
}

// If one decision on a key disagrees, every later decision on it is doubtful, too.
void ScriptBatch::Contents::find_doubtful(const ScriptReply& reply) {
  auto number = reply.admitted.begin();
  for (std::size_t i = 0; i < admitted.size(); ++i, ++number) {
    const auto checks = plan.checks_of(plan.evaluations()[i]);
    const auto is_doubtful = [&](const ScriptPlan::Check& check) { return doubtful[check.key]; };
    const bool agrees = static_cast<std::uint64_t>((*number).integer()) == admitted[i];
    if (agrees && std::ranges::none_of(checks, is_doubtful)) continue;
    for (const ScriptPlan::Check& check : checks) doubtful[check.key] = true;
  }
}

void ScriptBatch::Contents::conclude(Instant now) {
  for (const ScriptPlan::Member& member : plan.members()) {
    Group& group = *member.group;
    const auto checks = plan.checks_of(plan.evaluations()[member.evaluation]);
    const bool fails = std::ranges::any_of(checks, [&](const auto& check) { return doubtful[check.key]; });
    group.now = now;
    group.failure = fails ? Failure::disagreement : Failure::none;
    group.decided = !fails;
    group.admitted = group.admitted && !fails;
    for (store::Check& check : group.checks) {
      if (fails && check.exchange() != nullptr) check.exchange()->answer = {};
      if (fails && check.holdings != nullptr) *check.holdings = {};
      if (fails && check.receipt != nullptr) check.receipt->result = core::ReceiptResult::none;
    }
  }
}

}  // namespace weir::store::redis
