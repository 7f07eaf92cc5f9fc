// Parses any bytes as the script's reply to a batch with every algorithm and operation: it is rejected and the groups
// are unchanged, or every group is answered completely.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/redis/script_batch.h"
#include "wire/resp/reply_parser.h"

namespace {

using namespace weir;
using namespace weir::store;

void require(bool holds) {
  if (!holds) std::abort();
}

const std::vector<core::Rule>& rules() {
  using std::chrono::seconds;
  static const std::vector<core::Rule> all{
      core::compile(*Limit::token_bucket({{7, seconds(1)}, 20})),
      core::compile(*Limit::gcra({{1, seconds(60)}, 10})),
      core::compile(*Limit::leaky_bucket(BucketNumbers{{3, seconds(1)}, 5})),
      core::compile(*Limit::leaky_bucket(QueueNumbers{{10, seconds(1)}, 10})),
      core::compile(*Limit::fixed_window({10, seconds(60)})),
      core::compile(*Limit::sliding_window_counter({10, seconds(60)})),
      core::compile(*Limit::sliding_window_log({10, seconds(60)})),
  };
  return all;
}

store::Check check_of(std::size_t rule, std::string_view name, std::uint64_t cost = 1) {
  store::Check check;
  check.key = std::to_string(rule) + std::string(name);
  check.rule = &rules()[rule];
  check.cost = Cost{cost};
  check.wants_more_after = true;
  return check;
}

std::deque<Group> make_groups() {
  static CheckExtension owing{.charge_back = 5};
  std::deque<Group> groups;
  const auto add = [&](store::Operation operation, std::vector<store::Check> checks) -> Group& {
    Group& group = groups.emplace_back();
    group.operation = operation;
    group.checks = std::move(checks);
    group.failure = Failure::lost;
    return group;
  };
  for (std::size_t rule = 0; rule < rules().size(); ++rule) {
    for (int i = 0; i < 3; ++i) add(store::Operation::decide, {check_of(rule, "a", 4)});
    add(store::Operation::look, {check_of(rule, "a")});
    add(store::Operation::decide, {check_of(rule, "a"), check_of(rule, "b", 2), check_of(rule, "a", 3)});
    add(store::Operation::decide, {check_of(rule, "b")}).checks[0].extension = &owing;
    add(store::Operation::settle, {check_of(rule, "s")}).settlement =
        core::Settlement{Cost{2}, Cost{rule % 2 * 5}, {Instant{std::chrono::seconds(1'700'000'000)}, Instant::max()}};
    add(store::Operation::forget, {check_of(rule, "f")});
  }
  return groups;
}

void check_answer(const Group& group) {
  if (group.failure == Failure::disagreement) {
    require(!group.decided && !group.admitted);
    return;
  }
  require(group.failure == Failure::none && group.decided);
  bool admitted = true;
  for (const store::Check& check : group.checks) {
    require(check.decision.remaining <= check.decision.limit);
    admitted = admitted && check.decision.admitted;
  }
  if (group.operation <= store::Operation::look && group.admitted) require(admitted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  wire::resp::ReplyParser parser;
  if (parser.next(input).status != wire::resp::ReplyParser::Status::reply) return 0;
  std::deque<Group> groups = make_groups();
  redis::ScriptBatch batch;
  for (Group& group : groups) require(batch.add(group));
  const bool is_read = batch.read(parser.reply());
  for (const Group& group : groups) {
    if (is_read) {
      check_answer(group);
    } else {
      require(group.failure == Failure::lost && !group.decided);
      for (const store::Check& check : group.checks) require(check.decision == Decision{});
    }
  }
  return 0;
}
