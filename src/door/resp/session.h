// One connection of the Redis protocol's door. Internal to the door.
//
// Commands are answered in their order, all of one read at one time. CL.THROTTLE commands that follow each other wait
// in the door's batch; whatever comes next has them answered first. With a shared store all commands on limits that
// follow each other wait for one hearing; whatever comes next is read again when it is over. After MULTI commands are
// kept until EXEC, which runs them in the same ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "door/resp/resp_door.h"
#include "door/resp/transaction.h"
#include "engine/named.h"
#include "wire/resp/command_parser.h"
#include "wire/resp/reply_writer.h"

namespace weir::door {

class RespDoor::Session final : public net::Session {
 public:
  Session(RespDoor& door, const net::Peer& peer, const net::Link& link);
  ~Session() override { forget_queued(); }

  std::size_t on_input(std::span<char> bytes, net::Output& out) override;
  void on_resume(net::Output& out) override { (void)answer_queued(out); }
  [[nodiscard]] bool idle() const override { return heard_ == nullptr && !(transaction_ && transaction_->running()); }

 private:
  using Arguments = std::span<const std::string_view>;
  using Writer = wire::resp::ReplyWriter;
  using Run = void (Session::*)(Arguments, Writer&);

  enum class Asked : std::uint8_t { of_all, of_strangers_too };
  enum class AfterMulti : std::uint8_t { kept, run_at_once, refused };

  // A row of a table of commands. The arity counts the name; below zero it is the least.
  struct Command {
    std::string_view name;  // in lower case
    int arity;
    int key = 0;  // where the key is, for those who send commands on by it; 0: nowhere
    Run run;
    std::string_view syntax;
    std::string_view summary;
    Asked asked = Asked::of_all;
    AfterMulti after_multi = AfterMulti::kept;
    std::span<const Command> (*subcommands)() noexcept = nullptr;
  };
  [[nodiscard]] static std::span<const Command> commands() noexcept;
  [[nodiscard]] static std::span<const Command> client_subcommands() noexcept;
  [[nodiscard]] static std::span<const Command> command_subcommands() noexcept;
  [[nodiscard]] static std::span<const Command> config_subcommands() noexcept;
  [[nodiscard]] static const Command* find(std::span<const Command> among, std::string_view name) noexcept;

  enum class Rights : std::uint8_t { none, ask, reset };
  enum class Replies : std::uint8_t { on, off, skip_next, skip_this };

  // The queue. False: the command is another one, or needs a closer look.
  [[nodiscard]] bool queue(Arguments arguments, std::string_view unread, net::Output& out);
  [[nodiscard]] bool queue_throttle(Arguments arguments, std::string& out);
  [[nodiscard]] bool queue_for_hearing(Arguments arguments, std::string_view unread, net::Output& out);
  [[nodiscard]] bool add_to_hearing(Arguments arguments);
  [[nodiscard]] HeardCommands& hearing();
  void answer_batch(std::string& out);
  // False: what is queued is not judged yet, and the output is paused.
  [[nodiscard]] bool answer_queued(net::Output& out);
  void forget_queued() noexcept;

  // The input. False: it is not done with, and is taken again.
  [[nodiscard]] bool take(wire::resp::CommandParser::Status status, std::string_view unread, net::Output& out);
  void execute(Arguments arguments, net::Output& output);
  void dispatch(Arguments arguments, Writer& reply);
  void dispatch(const Command& command, Arguments arguments, Writer& reply);
  void dispatch_within(const Command& container, Arguments arguments, Writer& reply);
  void refuse(const Command* command, const std::string& text, Writer& reply);
  void end(wire::resp::CommandParser::Status status, net::Output& out);

  // Between MULTI and EXEC, and EXEC itself.
  [[nodiscard]] bool keeps_commands() const noexcept { return transaction_ && !transaction_->running(); }
  void keep_for_exec(Arguments arguments, Writer& reply);
  [[nodiscard]] bool can_run(Arguments arguments) const noexcept;
  [[nodiscard]] bool run_transaction(net::Output& out);

  // Who is at the other end, and what it may.
  [[nodiscard]] bool is_stranger() const noexcept { return rights_ == Rights::none && door_.options_.token.is_set(); }
  [[nodiscard]] bool show_token(std::string_view token) noexcept;
  void set_rights(Rights rights) noexcept;

  // The commands.
  void throttle(Arguments arguments, Writer& reply);
  void check(Arguments arguments, Writer& reply);
  void peek(Arguments arguments, Writer& reply);
  void reset_consumer(Arguments arguments, Writer& reply);

  void ping(Arguments arguments, Writer& reply);
  void echo(Arguments arguments, Writer& reply);
  void auth(Arguments arguments, Writer& reply);
  void hello(Arguments arguments, Writer& reply);
  void select(Arguments arguments, Writer& reply);
  void reset(Arguments arguments, Writer& reply);
  void quit(Arguments arguments, Writer& reply);

  void multi(Arguments arguments, Writer& reply);
  void exec(Arguments arguments, Writer& reply);
  void discard(Arguments arguments, Writer& reply);

  void client_id(Arguments arguments, Writer& reply);
  void client_info(Arguments arguments, Writer& reply);
  void client_list(Arguments arguments, Writer& reply);
  void client_get_name(Arguments arguments, Writer& reply);
  void client_set_name(Arguments arguments, Writer& reply);
  void client_set_info(Arguments arguments, Writer& reply);
  void client_switch(Arguments arguments, Writer& reply);
  void client_reply(Arguments arguments, Writer& reply);

  void command_all(Arguments arguments, Writer& reply);
  void command_count(Arguments arguments, Writer& reply);
  void command_docs(Arguments arguments, Writer& reply);
  void command_info(Arguments arguments, Writer& reply);
  void command_list(Arguments arguments, Writer& reply);
  void config_get(Arguments arguments, Writer& reply);
  void info(Arguments arguments, Writer& reply);

  void answer_ask(Arguments arguments, engine::NamedAsk ask, Writer& reply);
  static void describe(const Command& command, Writer& reply);
  [[nodiscard]] std::string description() const;

  RespDoor& door_;
  const net::Link link_;
  const bool is_shared_;  // the store
  wire::resp::CommandParser parser_;
  wire::resp::Protocol protocol_ = wire::resp::Protocol::resp2;
  Rights rights_ = Rights::none;
  Replies replies_ = Replies::on;
  bool closing_ = false;
  Instant now_{};                             // of this read
  std::unique_ptr<HeardCommands> heard_;      // that are queued for a hearing; null: none
  std::unique_ptr<Transaction> transaction_;  // since MULTI; null: none

  const std::int64_t id_;
  const std::string address_;  // as ip:port
  std::string name_;
  std::string library_;
  std::string library_version_;
};

}  // namespace weir::door
