// A real redis-server with the script, and one connection to it. Optionally with a clock set by the test.
#pragma once

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/script.h"
#include "store/redis/script_batch.h"
#include "store/redis/script_plan.h"
#include "store/store.h"
#include "tests/redis_process.h"
#include "wire/resp/reply_parser.h"
#include "wire/resp/writer.h"

namespace weir::store::redis {

class ScriptServer {
 public:
  explicit ScriptServer(std::vector<std::string> options = {}) : server_(std::move(options)) {
    ask({"SCRIPT", "LOAD", script_source()});
    digest_of_expiry_ = std::string(ask({"SCRIPT", "LOAD",
                                         "local function has_slices(text) return string.find(text, '!', 1, true) end "
                                         "for i, key in ipairs(KEYS) do local at = redis.call('PEXPIRETIME', key) "
                                         "if at >= 0 and math.floor(ARGV[1] / 1000) > at and "
                                         "not (ARGV[i + 1] == 'bucket' and has_slices(redis.call('GET', key))) then "
                                         "redis.call('DEL', key) end end redis.call('SET', 'clock', ARGV[1])"})
                                        .text());
    digest_of_manual_ = std::string(ask({"SCRIPT", "LOAD", source_with_manual_clock()}).text());
  }
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;

  // The reply is valid until the next command.
  wire::resp::Reply ask(std::initializer_list<std::string_view> command) { return connection_.ask(command); }
  wire::resp::Reply exchange(std::string_view bytes) { return connection_.exchange(bytes); }

  // Decides the batch by the server's clock, or as if it were `now`. Returns false if the reply is invalid.
  [[nodiscard]] bool run(ScriptBatch& batch) {
    std::string bytes;
    batch.write(bytes);
    return batch.read(exchange(bytes));
  }
  [[nodiscard]] bool run_at(ScriptBatch& batch, Instant now) {
    // Both commands at once: most of the time of a trace is the round trip.
    std::string bytes;
    append_set_clock(bytes, batch, now);
    append_at_clock(bytes, batch);
    const wire::resp::Reply reply = connection_.exchange(bytes, 2);
    error = reply.is(wire::resp::ReplyType::error) ? std::string(reply.text()) : connection_.received();
    return batch.read(reply);
  }

  std::string error;  // of the last batch

 private:
  // Sets the script's clock. Keys of the batch that are expired by it are removed, as the server does by its own clock;
  // except for buckets with slices: how long those matter depends on the rule that wrote them last.
  void append_set_clock(std::string& bytes, const ScriptBatch& batch, Instant now) const {
    std::vector<std::string_view> words{"EVALSHA", digest_of_expiry_, ""};
    std::vector<std::string_view> kinds;
    std::deque<std::string> beside;  // of receipts
    for (const Group* const group : batch.members()) {
      for (const store::Check& check : group->checks) {
        words.push_back(check.key);
        kinds.push_back(is_bucket(check) ? "bucket" : "");
        for (const std::string_view suffix : {":r", ":e"}) {
          words.push_back(beside.emplace_back(check.key).append(suffix));
          kinds.emplace_back();
        }
      }
    }
    const std::string keys = std::to_string(words.size() - 3);
    const std::string micros = std::to_string(now.time_since_epoch().count());
    words[2] = keys;
    words.push_back(micros);
    words.insert(words.end(), kinds.begin(), kinds.end());
    wire::resp::append_command(bytes, words);
  }

  // Appends the batch at the time last set.
  void append_at_clock(std::string& bytes, const ScriptBatch& batch) const {
    const std::size_t begin = bytes.size();
    batch.write(bytes);
    bytes.replace(bytes.find(script_digest(), begin), script_digest().size(), digest_of_manual_);
  }

  static bool is_bucket(const store::Check& check) {
    return check.rule != nullptr && core::visit_rule(*check.rule, []<class A>(const core::RuleOf<A>&) {
             return std::is_same_v<typename A::State, core::ArrivalState>;
           });
  }

  // The script, except for the line that reads the time.
  static std::string source_with_manual_clock() {
    std::string source(script_source());
    constexpr std::string_view real = "call('TIME')";
    const std::size_t at = source.find(real);
    if (at == std::string::npos || source.find(real, at + 1) != std::string::npos) throw std::runtime_error("one TIME");
    return source.replace(at, real.size(), "{0, call('GET', 'clock')}");
  }

  RedisProcess server_;
  RedisConnection connection_{server_.socket_path()};
  std::string digest_of_manual_;
  std::string digest_of_expiry_;
};

// A store on this server: the script decides, at the time that the test sets, and answers before submit() returns.
class ScriptStore final : public Store {
 public:
  using Store::submit;
  void submit(Batch groups) override {
    for (std::size_t i = 0; i < groups.size();) {
      batch_.clear();
      const std::size_t begin = i;
      while (i < groups.size() && batch_.add(*groups[i])) ++i;
      if (i == begin || !server.run_at(batch_, now)) throw std::runtime_error("the script fails: " + server.error);
      for (Group* const group : groups.subspan(begin, i - begin)) group->callback->answered(*group);
    }
  }

  Instant now{};
  ScriptServer server;

 private:
  ScriptBatch batch_;
};

}  // namespace weir::store::redis
