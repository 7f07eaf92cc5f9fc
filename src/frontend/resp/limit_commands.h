// CL.THROTTLE, and WEIR.CHECK, WEIR.PEEK and WEIR.RESET on named limits. receipt_commands.h has the commands on
// receipts. docs/reference-resp.md describes their arguments and replies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/algorithm/buckets.h"
#include "frontend/frontend.h"
#include "frontend/loop_context.h"
#include "frontend/receipt_texts.h"
#include "match/named.h"
#include "weir/limit.h"
#include "weir/result.h"
#include "wire/resp/writer.h"

namespace weir::frontend {

// A cache of the limits in CL.THROTTLE commands, which usually repeat: creating a limit costs more than a decision. Its
// size is fixed. Not thread-safe: each loop has its own.
class ThrottleLimits {
 public:
  struct Read {
    core::Gcra::Limit limit;
    Cost quantity;
  };
  // Returns the limit and the quantity of a command, valid until the next call; null if the command is invalid. Numbers
  // written exactly as in an earlier command are not parsed again.
  [[nodiscard]] const Read* read(std::span<const std::string_view> arguments) {
    if (arguments.size() < 5 || arguments.size() > 6) return nullptr;
    Written& written = written_[index_of(arguments.subspan(2))];
    return written.has(arguments.subspan(2)) ? &written.read : read_into(written, arguments);
  }

  // The result is valid until the next call. The message of an error is the text of the reply.
  [[nodiscard]] Result<const core::Gcra::Limit*> get(const BucketNumbers& numbers);

 private:
  static constexpr std::size_t sets = 64;
  static constexpr std::size_t ways = 4;  // entries per set
  static constexpr std::size_t remembered = 32;

  struct Cached {
    BucketNumbers numbers;
    core::Gcra::Limit limit;
  };
  struct Set {
    std::array<std::optional<Cached>, ways> cached;
    std::size_t next = 0;  // the entry to replace next
  };

  // The numbers of a command as they were written, concatenated.
  struct Written {
    [[nodiscard]] bool has(std::span<const std::string_view> numbers) const noexcept {
      if (numbers.size() != count) return false;
      const char* text = texts.data();
      for (std::size_t i = 0; i < count; ++i) {
        if (numbers[i].size() != sizes[i]) return false;
        for (const char c : numbers[i]) {  // for a few bytes, memcmp costs more
          if (c != *text++) return false;
        }
      }
      return true;
    }

    std::size_t count = 0;  // 0: empty
    std::array<std::uint8_t, 4> sizes;
    std::array<char, 64> texts;
    Read read;
  };
  [[nodiscard]] static std::size_t index_of(std::span<const std::string_view> numbers) noexcept {
    const std::size_t count = numbers[1].empty() ? 0U : static_cast<unsigned char>(numbers[1].front()) & 0xFU;
    return (numbers[0].size() + 3 * numbers[1].size() + 5 * numbers[2].size() + 7 * count) % remembered;
  }
  [[nodiscard]] const Read* read_into(Written& written, std::span<const std::string_view> arguments);
  [[nodiscard]] static std::size_t set_of(const BucketNumbers& numbers) noexcept {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
    std::uint64_t mixed = numbers.burst * spread;
    mixed = (mixed ^ numbers.rate.count) * spread;
    mixed = (mixed ^ static_cast<std::uint64_t>(numbers.rate.per.count())) * spread;
    return static_cast<std::size_t>(mixed >> 32) % sets;
  }

  std::vector<Set> sets_ = std::vector<Set>(sets);
  std::vector<Written> written_ = std::vector<Written>(remembered);
};

// Returns the query of WEIR.CHECK, WEIR.PEEK or WEIR.RESET without its options. `arguments` is the whole command and
// has at least three elements.
[[nodiscard]] match::NamedQuery named_query(std::span<const std::string_view> arguments, bool peeks,
                                            bool one_meaning) noexcept;
// Reads the options, in any order. Returns the error reply; empty: success.
[[nodiscard]] std::string_view read_options(std::span<const std::string_view> words, match::NamedQuery& query) noexcept;

struct ReceiptCommand;

// The result of a WEIR.RESET, for the log and the events.
struct MadeReset {
  enum class Outcome : std::uint8_t { done, failed, unanswered };

  std::string_view limit;     // empty: unknown limit
  std::string_view consumer;  // the key, as match/consumer.h writes it; empty: not a consumer of the limit
  Outcome outcome;            // unanswered: the client disconnected before the store answered
};
using OnReset = std::function<void(const MadeReset&)>;

// A batch of consecutive commands on limits. Replies are in the order of the commands. The arguments must stay valid
// until the batch is answered.
class CommandBatch {
 public:
  // With a shared store, larger batches need fewer round trips. In memory, smaller batches stay in the processor's
  // cache.
  static constexpr std::size_t max_size = 64;
  static constexpr std::size_t max_in_memory = 16;

  // CLIENT REPLY can turn replies off.
  enum class Reply : std::uint8_t { sent, withheld };

  // These require that the batch is neither full nor submitted.
  void add(LoopContext& context, const match::NamedQuery& query, Reply reply);
  void add_reset(LoopContext& context, const match::NamedQuery& query, Reply reply);
  void add(LoopContext& context, const ReceiptCommand& command, Reply reply);
  void add_throttle(LoopContext& context, table::KeyHash hash, std::string_view key, const core::Gcra::Limit& limit,
                    Cost quantity, Reply reply) {
    next(context, Kind::throttle, reply).add_throttle(hash, key, limit, quantity);
  }
  [[nodiscard]] bool full() const noexcept { return size_ == room_; }

  // Must be called only once. Resumes the link when the batch is done, unless it is done immediately.
  void submit(const net::Link& link);
  [[nodiscard]] bool submitted() const noexcept { return submitted_; }
  [[nodiscard]] bool in_flight() const noexcept { return evaluation_->in_flight(); }

  // Requires that the batch is done.
  void answer(wire::resp::Protocol protocol, ThrottleCounts& counts, ReceiptTexts& texts, std::string& out) const;

  // Reports the result of every reset. Called before clear(); if the batch is done, the arguments must still be valid.
  void report_resets(const OnReset& on_reset) const;

  // May be called while the batch is in flight.
  void clear() noexcept;

 private:
  enum class Kind : std::uint8_t { verdict, reset, reserve, receipt, throttle };
  struct Command {
    Kind kind;
    Reply reply;
  };

  engine::EvaluationBatch& next(LoopContext& context, Kind kind, Reply reply) {
    if (!evaluation_) {
      evaluation_ = context.evaluator().new_batch();
      room_ = context.evaluator().is_shared() ? max_size : max_in_memory;
    }
    commands_[size_++] = {kind, reply};
    return *evaluation_;
  }
  void write(const Command& command, std::size_t number, wire::resp::Protocol protocol, ReceiptTexts& texts,
             wire::resp::ReplyWriter& reply) const;

  std::array<Command, max_size> commands_;  // the first size_ are used
  std::size_t size_ = 0;
  std::size_t room_ = max_size;
  engine::EvaluationBatchPtr evaluation_;
  struct Reset {
    std::size_t number;
    std::string limit;
  };
  std::vector<Reset> resets_;
  bool submitted_ = false;
};

}  // namespace weir::frontend
