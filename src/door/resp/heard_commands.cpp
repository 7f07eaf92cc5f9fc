#include "door/resp/heard_commands.h"

#include "door/resp/verdict_reply.h"
#include "engine/hearing.h"
#include "wire/resp/throttle.h"

namespace weir::door {

using wire::resp::Protocol;
using wire::resp::ReplyWriter;

namespace {

void reply_throttle(const Decision* decision, ReplyWriter& reply) {
  if (decision == nullptr) return reply.error("Cell error: Store error: the store that keeps the keys is away");
  append_throttle_reply(reply.out(), wire::resp::throttle_reply(*decision));
}

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
  commands_.push_back({Kind::throttle, reply});
}

void HeardCommands::answer(Protocol protocol, ThrottleCounts& counts, std::string& out) const {
  ReplyWriter reply(out, protocol);
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const Command command = commands_[i];
    const Decision* const decision = command.kind == Kind::throttle ? inquiry_.heard().decision(i) : nullptr;
    if (decision != nullptr) (decision->admitted ? counts.allowed : counts.limited).raise();
    if (command.reply == Reply::sent) write(command.kind, i, reply, protocol);
  }
}

void HeardCommands::write(Kind kind, std::size_t number, ReplyWriter& reply, Protocol protocol) const {
  const engine::Hearing& heard = inquiry_.heard();
  switch (kind) {
    case Kind::check:
      return reply_verdict(heard.verdict(number), heard.plan(), protocol, reply);
    case Kind::reset:
      return reply_reset(heard.reset(number), reply);
    case Kind::throttle:
      return reply_throttle(heard.decision(number), reply);
  }
}

void HeardCommands::clear() noexcept {
  commands_.clear();
  inquiry_.close();
}

}  // namespace weir::door
