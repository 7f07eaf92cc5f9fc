// Commands on limits that follow each other and are judged by a shared store: one hearing, and the replies in the order
// of the commands. What they view stays until they are answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/algorithm/gcra.h"
#include "door/desk.h"
#include "door/inquiry.h"
#include "door/resp/throttle_counts.h"
#include "engine/named.h"
#include "net/link.h"
#include "store/local/throttle_table.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "wire/resp/reply_writer.h"

namespace weir::door {

class HeardCommands {
 public:
  static constexpr std::size_t most = 64;

  // A client may want no reply.
  enum class Reply : std::uint8_t { sent, withheld };

  // `throttles` is what CL.THROTTLE is decided on while the store is away.
  HeardCommands(Desk& desk, store::ThrottleTable& throttles) noexcept
      : desk_(desk), throttles_(throttles), inquiry_(desk) {}

  // While it is neither full nor begun.
  void check(const engine::NamedAsk& ask, Reply reply);  // or peek
  void reset(const engine::NamedAsk& ask, Reply reply);
  void throttle(std::string_view key, const core::Gcra::Limit& limit, Cost quantity, Reply reply);
  [[nodiscard]] bool full() const noexcept { return commands_.size() == most; }

  // The link is resumed when it is over, unless it is so at once.
  void begin(const net::Link& link) { inquiry_.begin(link); }
  [[nodiscard]] bool begun() const noexcept { return inquiry_.begun(); }
  [[nodiscard]] bool waiting() const noexcept { return inquiry_.waiting(); }

  // When it is over.
  void answer(wire::resp::Protocol protocol, ThrottleCounts& counts, std::string& out) const;

  // It is empty then, over or not.
  void clear() noexcept;

 private:
  enum class Kind : std::uint8_t { check, reset, throttle };
  struct Throttle {
    std::string_view key;
    core::Gcra::Limit limit;
    Cost quantity{1};
  };
  struct Command {
    Kind kind;
    Reply reply;
    Throttle throttle{};
  };

  void write(const Command& command, std::size_t number, wire::resp::ReplyWriter& reply,
             wire::resp::Protocol protocol) const;
  [[nodiscard]] Decision decide_here(const Throttle& throttle) const;

  Desk& desk_;
  store::ThrottleTable& throttles_;
  std::vector<Command> commands_;  // by their number at the hearing
  Inquiry inquiry_;
};

}  // namespace weir::door
