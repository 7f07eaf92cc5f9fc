// The reply of the script, from a server that may say anything, to a batch with every algorithm and operation: it is
// refused, and the asks stay as they were, or every ask is answered as a whole.
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

SharedCheck check_of(std::size_t rule, std::string_view name, std::uint64_t cost = 1) {
  return {.key = std::to_string(rule) + std::string(name), .rule = &rules()[rule], .cost = Cost{cost}};
}

std::deque<SharedAsk> make_asks() {
  std::deque<SharedAsk> asks;
  const auto add = [&](SharedOperation operation, std::vector<SharedCheck> checks) -> SharedAsk& {
    SharedAsk& ask = asks.emplace_back();
    ask.operation = operation;
    ask.checks = std::move(checks);
    ask.failure = StoreFailure::lost;
    return ask;
  };
  for (std::size_t rule = 0; rule < rules().size(); ++rule) {
    for (int i = 0; i < 3; ++i) add(SharedOperation::decide, {check_of(rule, "a", 4)});
    add(SharedOperation::look, {check_of(rule, "a")});
    add(SharedOperation::decide, {check_of(rule, "a"), check_of(rule, "b", 2), check_of(rule, "a", 3)});
    add(SharedOperation::decide, {check_of(rule, "b")}).checks[0].charge_back = 5;
    add(SharedOperation::settle, {check_of(rule, "s")}).settlement =
        core::Settlement{Cost{2}, Cost{rule % 2 * 5}, Instant{std::chrono::seconds(1'700'000'000)}};
    add(SharedOperation::forget, {check_of(rule, "f")});
  }
  return asks;
}

void check_answer(const SharedAsk& ask) {
  if (ask.failure == StoreFailure::disagreement) {
    require(ask.answers.empty() && !ask.admitted);
    return;
  }
  require(ask.failure == StoreFailure::none && ask.answers.size() == ask.checks.size());
  bool admitted = true;
  for (const SharedAnswer& answer : ask.answers) {
    require(answer.decision.remaining <= answer.decision.limit);
    admitted = admitted && answer.decision.admitted;
  }
  if (ask.operation <= SharedOperation::look && ask.admitted) require(admitted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  wire::resp::ReplyParser parser;
  if (parser.next(input).status != wire::resp::ReplyParser::Status::reply) return 0;
  std::deque<SharedAsk> asks = make_asks();
  redis::ScriptBatch batch;
  for (SharedAsk& ask : asks) require(batch.add(ask));
  const bool is_read = batch.read(parser.reply());
  for (const SharedAsk& ask : asks) {
    if (is_read) {
      check_answer(ask);
    } else {
      require(ask.failure == StoreFailure::lost && ask.answers.empty());
    }
  }
  return 0;
}
