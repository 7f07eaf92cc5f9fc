// CL.THROTTLE, and WEIR.CHECK, WEIR.PEEK and WEIR.RESET on named limits. receipt_commands.h has those on receipts.
// docs/protocols.md, "The Redis protocol", describes their arguments and replies.
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

// The limits that CL.THROTTLE commands bring along, kept because the next ones bring the same: to make one costs more
// than to decide by it. A fixed number of them; a new one takes the place of another. One per loop.
class ThrottleLimits {
 public:
  struct Read {
    core::Gcra::Limit limit;
    Cost quantity;
  };
  // What a command asks by; null: something is wrong with it. Stays until the next call. Numbers that are written as in
  // a command before are not parsed again.
  [[nodiscard]] const Read* read(std::span<const std::string_view> arguments) {
    if (arguments.size() < 5 || arguments.size() > 6) return nullptr;
    Written& written = written_[place_of(arguments.subspan(2))];
    return written.has(arguments.subspan(2)) ? &written.read : read_into(written, arguments);
  }

  // Stays until the next call. The message of an error is the reply's text.
  [[nodiscard]] Result<const core::Gcra::Limit*> get(const BucketNumbers& numbers);

 private:
  static constexpr std::size_t sets = 64;
  static constexpr std::size_t places = 4;  // of a set
  static constexpr std::size_t remembered = 32;

  struct Kept {
    BucketNumbers numbers;
    core::Gcra::Limit limit;
  };
  struct Set {
    std::array<std::optional<Kept>, places> kept;
    std::size_t next = 0;  // whose place is taken next
  };

  // The numbers of a command as they were written, one behind the other.
  struct Written {
    [[nodiscard]] bool has(std::span<const std::string_view> numbers) const noexcept {
      if (numbers.size() != count) return false;
      const char* text = texts.data();
      for (std::size_t i = 0; i < count; ++i) {
        if (numbers[i].size() != sizes[i]) return false;
        for (const char c : numbers[i]) {  // a few: to call memcmp costs more
          if (c != *text++) return false;
        }
      }
      return true;
    }

    std::size_t count = 0;  // 0: none
    std::array<std::uint8_t, 4> sizes;
    std::array<char, 64> texts;
    Read read;
  };
  [[nodiscard]] static std::size_t place_of(std::span<const std::string_view> numbers) noexcept {
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

// What WEIR.CHECK, WEIR.PEEK or WEIR.RESET asks, but for its options. `arguments` is the whole command: at least three.
[[nodiscard]] match::NamedQuery named_ask(std::span<const std::string_view> arguments, bool peeks,
                                          bool one_meaning) noexcept;
// The options, in any order. What is wrong, as to be replied; empty: nothing.
[[nodiscard]] std::string_view read_options(std::span<const std::string_view> words, match::NamedQuery& ask) noexcept;

struct ReceiptQuestion;

// What came of a WEIR.RESET, for whoever keeps account of what operators change.
struct MadeReset {
  enum class Outcome : std::uint8_t { done, failed, unanswered };

  std::string_view limit;     // empty: the policy has none of that name
  std::string_view consumer;  // its key, as match/consumer.h writes it; empty: the words fit none of the limit's
  Outcome outcome;            // unanswered: the client left before the store had answered
};
using OnReset = std::function<void(const MadeReset&)>;

// Commands on limits that follow each other: one batch, and the replies in the order of the commands. What they view
// stays until they are answered.
class CommandBatch {
 public:
  // On a store that is shared, more at once are fewer trips. In this process's own memory fewer are better: what they
  // touch between them stays in the nearest cache.
  static constexpr std::size_t most = 64;
  static constexpr std::size_t max_in_memory = 16;

  // A client may want no reply.
  enum class Reply : std::uint8_t { sent, withheld };

  // While it is neither full nor submitted.
  void add(LoopContext& context, const match::NamedQuery& ask, Reply reply);
  void add_reset(LoopContext& context, const match::NamedQuery& ask, Reply reply);
  void add(LoopContext& context, const ReceiptQuestion& question, Reply reply);
  void add_throttle(LoopContext& context, table::KeyHash hash, std::string_view key, const core::Gcra::Limit& limit,
                    Cost quantity, Reply reply) {
    next(context, Kind::throttle, reply).add_throttle(hash, key, limit, quantity);
  }
  [[nodiscard]] bool full() const noexcept { return size_ == room_; }

  // Once. The link is resumed when it is done, unless it is done at once.
  void submit(const net::Link& link);
  [[nodiscard]] bool submitted() const noexcept { return submitted_; }
  [[nodiscard]] bool in_flight() const noexcept { return evaluation_->in_flight(); }

  // When it is done.
  void answer(wire::resp::Protocol protocol, ThrottleCounts& counts, ReceiptTexts& texts, std::string& out) const;

  // Before it is cleared: of every reset, what came of it. Where the batch is done, what the commands view is there.
  void tell_resets(const OnReset& told) const;

  // It is empty then, in flight or not.
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
      room_ = context.evaluator().is_shared() ? most : max_in_memory;
    }
    commands_[size_++] = {kind, reply};
    return *evaluation_;
  }
  void write(const Command& command, std::size_t number, wire::resp::Protocol protocol, ReceiptTexts& texts,
             wire::resp::ReplyWriter& reply) const;

  std::array<Command, most> commands_;  // the first size_ of them
  std::size_t size_ = 0;
  std::size_t room_ = most;
  engine::EvaluationBatchPtr evaluation_;
  struct Reset {
    std::size_t number;
    std::string limit;
  };
  std::vector<Reset> resets_;
  bool submitted_ = false;
};

}  // namespace weir::frontend
