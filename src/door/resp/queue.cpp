// Commands that wait for others like them: CL.THROTTLE for the memory's latency, and with a shared store all commands
// on limits for its answer.
#include <algorithm>
#include <functional>

#include "door/resp/argument.h"
#include "door/resp/named_command.h"
#include "door/resp/session.h"
#include "wire/resp/throttle.h"

namespace weir::door {
namespace {

bool lies_within(std::string_view part, std::string_view whole) noexcept {
  const std::less_equal<const char*> not_behind;
  return not_behind(whole.data(), part.data()) && not_behind(part.data() + part.size(), whole.data() + whole.size());
}

bool is_throttle(std::string_view name) noexcept {
  return name == "CL.THROTTLE" || equals_ignoring_case(name, "cl.throttle");
}

}  // namespace

bool RespDoor::Session::queue(Arguments arguments, std::string_view unread, net::Output& out) {
  return is_shared_ ? queue_for_hearing(arguments, unread, out) : queue_throttle(arguments, out.bytes());
}

// The way of nearly all commands.
bool RespDoor::Session::queue_throttle(Arguments arguments, std::string& out) {
  if (!is_throttle(arguments.front())) return false;
  if (is_stranger() || replies_ != Replies::on || arguments.size() < 2) return false;
  const table::KeyHash key = door_.batch_.seek(arguments[1]);
  const auto asked = wire::resp::parse_throttle(arguments);
  if (!asked) return false;
  const core::Gcra::Limit* limit = door_.throttle_limits_.find(asked->numbers);
  if (limit == nullptr) {
    answer_batch(out);  // by the limit that may have to go
    const auto added = door_.throttle_limits_.add(asked->numbers);
    if (!added) return false;
    limit = *added;
  }
  door_.batch_.add(key, *limit, asked->quantity);
  if (door_.batch_.full()) answer_batch(out);
  return true;
}

bool RespDoor::Session::queue_for_hearing(Arguments arguments, std::string_view unread, net::Output& out) {
  if (is_stranger() || !add_to_hearing(arguments)) return false;
  if (replies_ == Replies::skip_next) replies_ = Replies::on;
  // A quoted argument is the parser's own, and gone with its next step.
  const bool all_stays =
      std::ranges::all_of(arguments, [&](std::string_view each) { return lies_within(each, unread); });
  if (heard_->full() || !all_stays) (void)answer_queued(out);
  return true;
}

// False if it is no command on limits, or something is wrong with it.
bool RespDoor::Session::add_to_hearing(Arguments arguments) {
  using Reply = HeardCommands::Reply;
  const Reply reply = replies_ == Replies::on ? Reply::sent : Reply::withheld;
  const std::string_view name = arguments.front();
  if (is_throttle(name)) {
    const auto asked = wire::resp::parse_throttle(arguments);
    if (!asked) return false;
    const core::Gcra::Limit* limit = door_.throttle_limits_.find(asked->numbers);
    if (limit == nullptr) {
      const auto added = door_.throttle_limits_.add(asked->numbers);
      if (!added) return false;
      limit = *added;
    }
    hearing().throttle(asked->key, *limit, asked->quantity, reply);
    return true;
  }
  if (equals_ignoring_case(name, "weir.reset")) {
    if (arguments.size() != 3 || rights_ != Rights::reset) return false;
    engine::NamedAsk ask = named_ask(arguments);
    ask.one_meaning = true;
    hearing().reset(ask, reply);
    return true;
  }
  const bool peeks = equals_ignoring_case(name, "weir.peek");
  if ((!peeks && !equals_ignoring_case(name, "weir.check")) || arguments.size() < 3) return false;
  engine::NamedAsk ask = named_ask(arguments);
  ask.peek = peeks;
  ask.one_meaning = peeks;
  if (!read_options(arguments.subspan(3), ask).empty()) return false;
  hearing().check(ask, reply);
  return true;
}

HeardCommands& RespDoor::Session::hearing() {
  if (!heard_) heard_ = door_.heard_.take(door_.desk_, door_.throttles_);
  return *heard_;
}

void RespDoor::Session::answer_batch(std::string& out) {
  if (!door_.batch_.empty()) door_.batch_.answer(now_, out);
}

bool RespDoor::Session::answer_queued(net::Output& out) {
  if (!is_shared_) answer_batch(out.bytes());
  if (!heard_) return true;
  if (!heard_->begun()) heard_->begin(link_);
  if (heard_->waiting()) {
    out.pause();
    return false;
  }
  heard_->answer(protocol_, door_.throttle_counts_, out.bytes());
  forget_queued();
  return true;
}

void RespDoor::Session::forget_queued() noexcept {
  if (!heard_) return;
  heard_->clear();
  door_.heard_.give_back(std::move(heard_));
}

}  // namespace weir::door
