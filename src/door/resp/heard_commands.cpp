#include "door/resp/heard_commands.h"

#include "door/resp/verdict_reply.h"
#include "engine/hearing.h"
#include "engine/local_share.h"
#include "wire/resp/throttle.h"

namespace weir::door {

using wire::resp::Protocol;
using wire::resp::ReplyWriter;

namespace {

// No policy says what holds for CL.THROTTLE while the store is away: what holds for limits that say nothing.
constexpr std::uint32_t local_share = 500'000;

}  // namespace

void HeardCommands::check(const engine::NamedAsk& ask, Reply reply) {
  inquiry_.open().add(ask);
  commands_.push_back({Kind::check, reply});
}

void HeardCommands::reset(const engine::NamedAsk& ask, Reply reply) {
  inquiry_.open().add_reset(ask);
  commands_.push_back({Kind::reset, reply});
}

void HeardCommands::throttle(std::string_view key, const core::Gcra::Limit& limit, Cost quantity, Reply reply) {
  inquiry_.open().add_throttle(key, limit, quantity);
  commands_.push_back({Kind::throttle, reply, {key, limit, quantity}});
}

void HeardCommands::answer(Protocol protocol, ThrottleCounts& counts, std::string& out) const {
  ReplyWriter reply(out, protocol);
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const Command& command = commands_[i];
    if (command.kind != Kind::throttle) {
      if (command.reply == Reply::sent) write(command, i, reply, protocol);
      continue;
    }
    const Decision* const heard = inquiry_.heard().decision(i);
    const Decision decision = heard != nullptr ? *heard : decide_here(command.throttle);
    (decision.admitted ? counts.allowed : counts.limited).raise();
    if (command.reply == Reply::sent) append_throttle_reply(out, wire::resp::throttle_reply(decision));
  }
}

void HeardCommands::write(const Command& command, std::size_t number, ReplyWriter& reply, Protocol protocol) const {
  const engine::Hearing& heard = inquiry_.heard();
  if (command.kind == Kind::reset) return reply_reset(heard.reset(number), reply);
  reply_verdict(heard.verdict(number), heard.plan(), protocol, reply);
}

// This process's share.
Decision HeardCommands::decide_here(const Throttle& throttle) const {
  const Rate rate{static_cast<std::uint64_t>(throttle.limit.count), Duration{throttle.limit.per}};
  const auto whole = Limit::gcra({rate, throttle.limit.burst});
  const core::Gcra::Limit share =
      whole ? core::Gcra::Limit(engine::local_share_of(*whole, local_share, throttle.quantity)) : throttle.limit;
  return throttles_.decide(share, throttles_.seek(throttle.key), throttle.quantity, desk_.now());
}

void HeardCommands::clear() noexcept {
  commands_.clear();
  inquiry_.close();
}

}  // namespace weir::door
