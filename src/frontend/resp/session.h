// One connection of the Redis protocol. Internal to this folder.
//
// Commands are answered in their order. Those on limits that follow each other are one batch; whatever comes next has
// them answered first, and while the store has yet to answer, it is left unread. After MULTI commands are kept until
// EXEC, which runs them in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/receipt.h"
#include "frontend/resp/argument.h"
#include "frontend/resp/resp_frontend.h"
#include "frontend/resp/transaction.h"
#include "wire/resp/command_parser.h"
#include "wire/resp/writer.h"

namespace weir::frontend {

class RespFrontend::Session final : public net::Session {
 public:
  Session(RespFrontend& frontend, const net::Peer& peer, const net::Link& link);
  ~Session() override { forget_batch(); }

  std::size_t on_input(std::span<char> bytes, net::Output& out) override;
  void on_resume(net::Output& out) override { (void)answer_batch(out); }
  [[nodiscard]] bool idle() const override { return batch_ == nullptr && !(transaction_ && transaction_->running()); }

 private:
  using Arguments = std::span<const std::string_view>;
  using Writer = wire::resp::ReplyWriter;
  using Run = void (Session::*)(Arguments, Writer&);
  using Join = bool (*)(Session&, Arguments);

  enum class Asked : std::uint8_t { of_all, of_strangers_too };
  enum class AfterMulti : std::uint8_t { kept, run_at_once, refused };

  // A row of a table of commands: what is called for a command, and what clients are told of it. Commands on limits
  // join the batch, the others are run. The arity counts the name; below zero it is the least.
  struct Command {
    CommandName name;
    int arity;
    Run run;
    std::string_view syntax;
    std::string_view summary;
    Asked asked = Asked::of_all;
    AfterMulti after_multi = AfterMulti::kept;
    std::span<const Command> (*subcommands)() noexcept = nullptr;
    Join join = nullptr;
    int key = 0;  // where the key is, for proxies that route commands by it; 0: nowhere

    [[nodiscard]] bool takes(std::size_t arguments) const noexcept {
      const auto count = static_cast<int>(arguments);
      return arity < 0 ? count >= -arity : count == arity;
    }
  };
  [[nodiscard]] static std::span<const Command> commands() noexcept;
  [[nodiscard]] static std::span<const Command> client_subcommands() noexcept;
  [[nodiscard]] static std::span<const Command> command_subcommands() noexcept;
  [[nodiscard]] static std::span<const Command> config_subcommands() noexcept;
  [[nodiscard]] static const Command* find(std::span<const Command> among, std::string_view name) noexcept;
  // Null if there is no such command. Clients mostly repeat the one that they sent before.
  [[nodiscard]] const Command* lookup(std::string_view name) noexcept {
    if (last_->name.is(name)) return last_;
    const Command* const found = find(commands(), name);
    if (found != nullptr) last_ = found;
    return found;
  }

  enum class Rights : std::uint8_t { none, ask, reset };
  enum class Replies : std::uint8_t { on, off, skip_next, skip_this };

  // Adds a command on limits to the batch. False: it is another command, or cannot join: then `wrong_` says why. What
  // lies in the parser is gone with its next step, so the batch is submitted at once then.
  enum class Lies : std::uint8_t { in_parser, in_input };
  [[nodiscard]] bool join(const Command* command, Arguments arguments, Lies lies, net::Output& out);
  [[nodiscard]] static bool join_throttle(Session& session, Arguments arguments);
  template <bool peeks>
  [[nodiscard]] static bool join_check(Session& session, Arguments arguments);
  [[nodiscard]] static bool join_reset(Session& session, Arguments arguments);
  template <engine::ReceiptAsk::What what>
  [[nodiscard]] static bool join_receipt(Session& session, Arguments arguments);
  [[nodiscard]] bool refuse_to_join(std::string_view why) {
    wrong_ = why;
    return false;
  }
  // False: the batch is in flight, and the output is paused.
  [[nodiscard]] bool answer_batch(net::Output& out);
  void forget_batch();
  [[nodiscard]] CommandBatch& open_batch();
  [[nodiscard]] CommandBatch::Reply wanted_reply() const noexcept {
    return replies_ == Replies::on ? CommandBatch::Reply::sent : CommandBatch::Reply::withheld;
  }

  // The input. False: it is not done with, and is taken again.
  [[nodiscard]] bool take(wire::resp::CommandParser::Status status, net::Output& out);
  void execute(const Command* command, Arguments arguments, net::Output& output);
  void dispatch(const Command* command, Arguments arguments, Writer& reply);
  void run(const Command& command, Arguments arguments, Writer& reply);
  void dispatch_within(const Command& container, Arguments arguments, Writer& reply);
  void refuse(const Command* command, const std::string& text, Writer& reply);
  void end(wire::resp::CommandParser::Status status, net::Output& out);

  // Between MULTI and EXEC, and EXEC itself.
  [[nodiscard]] bool keeps_commands() const noexcept { return transaction_ && !transaction_->running(); }
  void keep_for_exec(Arguments arguments, Writer& reply);
  [[nodiscard]] bool can_exec(const Command* command, Arguments arguments) const noexcept;
  [[nodiscard]] bool run_transaction(net::Output& out);

  // What the client may do.
  [[nodiscard]] bool is_stranger() const noexcept {
    return rights_ == Rights::none && frontend_.options_.token.is_set();
  }
  [[nodiscard]] bool show_token(std::string_view token) noexcept;
  void set_rights(Rights rights) noexcept;

  // The commands that do not join the batch.

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

  static void describe(const Command& command, Writer& reply);
  [[nodiscard]] std::string description() const;

  RespFrontend& frontend_;
  const Command* last_ = commands().data();  // that was looked up
  const net::Link link_;
  wire::resp::CommandParser parser_;
  wire::resp::Protocol protocol_ = wire::resp::Protocol::resp2;
  Rights rights_ = Rights::none;
  Replies replies_ = Replies::on;
  bool closing_ = false;
  std::string wrong_;                         // with the last command that could not join the batch, as to be replied
  std::unique_ptr<CommandBatch> batch_;       // that is not answered; null: none
  std::unique_ptr<Transaction> transaction_;  // since MULTI; null: none

  const std::int64_t id_;
  const std::string address_;  // as ip:port
  std::string name_;
  std::string library_;
  std::string library_version_;
};

}  // namespace weir::frontend
