// The commands that the door is there for: CL.THROTTLE, and WEIR.CHECK, WEIR.PEEK, WEIR.RESET on named limits.
// Those that are queued (queue.cpp) do not come here.
#include "door/resp/named_command.h"
#include "door/resp/session.h"
#include "door/resp/verdict_reply.h"
#include "wire/resp/throttle.h"

namespace weir::door {

using engine::NamedAsk;

// Nearly always there is something wrong with it.
void RespDoor::Session::throttle(Arguments arguments, Writer& reply) {
  const auto asked = wire::resp::parse_throttle(arguments);
  if (!asked) return reply.error(asked.error().message());
  const auto limit = door_.throttle_limits_.add(asked->numbers);
  if (!limit) return reply.error(limit.error().message());
  door_.batch_.add(door_.batch_.seek(asked->key), **limit, asked->quantity);
  door_.batch_.answer(now_, reply.out());
}

void RespDoor::Session::check(Arguments arguments, Writer& reply) {
  answer_ask(arguments, named_ask(arguments), reply);
}

void RespDoor::Session::peek(Arguments arguments, Writer& reply) {
  NamedAsk ask = named_ask(arguments);
  ask.peek = true;
  ask.one_meaning = true;
  answer_ask(arguments, ask, reply);
}

void RespDoor::Session::answer_ask(Arguments arguments, NamedAsk ask, Writer& reply) {
  if (const auto wrong = read_options(arguments.subspan(3), ask); !wrong.empty()) return reply.error(wrong);
  engine::Judge& judge = door_.desk_.judge();
  const auto held = judge.hold();
  reply_verdict(judge.judge(ask, now_), judge.plan(), protocol_, reply);
}

void RespDoor::Session::reset_consumer(Arguments arguments, Writer& reply) {
  if (rights_ != Rights::reset) {
    return reply.error(door_.options_.admin_token.is_set()
                           ? "NOPERM WEIR.RESET needs the admin token: show it by AUTH first"
                           : "NOPERM WEIR.RESET needs the admin token, and this server has none");
  }
  NamedAsk ask = named_ask(arguments);
  ask.one_meaning = true;
  reply_reset(door_.desk_.judge().reset(ask, now_), reply);
}

}  // namespace weir::door
