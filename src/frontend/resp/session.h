// One connection of the Redis protocol. Internal to this folder.
//
// Commands are answered in order. Consecutive commands on limits form a batch. Any other command waits until the batch
// is answered, and is left unread while the store has not answered. After MULTI, commands are queued until EXEC, which
// runs them in the same way.
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
  ~Session() override { release_batch(); }

  std::size_t on_input(std::span<char> bytes, net::Output& out) override;
  void on_resume(net::Output& out) override { (void)answer_batch(out); }
  [[nodiscard]] bool idle() const override { return batch_ == nullptr && !(transaction_ && transaction_->running()); }

 private:
  using Arguments = std::span<const std::string_view>;
  using Writer = wire::resp::ReplyWriter;
  using Run = void (Session::*)(Arguments, Writer&);
  using Join = bool (*)(Session&, Arguments);

  enum class Access : std::uint8_t { authenticated, anyone };
  enum class AfterMulti : std::uint8_t { queued, run_at_once, refused };

  // A row of a command table. Commands on limits have `join` and join the batch, the others have `run`. The arity
  // includes the name; a negative arity is a minimum.
  struct Command {
    CommandName name;
    int arity;
    Run run;
    std::string_view syntax;
    std::string_view summary;
    Access access = Access::authenticated;
    AfterMulti after_multi = AfterMulti::queued;
    std::span<const Command> (*subcommands)() noexcept = nullptr;
    Join join = nullptr;
    int key = 0;  // the position of the key, for proxies that route by it; 0: none

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
  // Returns null for an unknown command. Tries the last command first, because clients mostly repeat it.
  [[nodiscard]] const Command* lookup(std::string_view name) noexcept {
    if (last_->name.is(name)) return last_;
    const Command* const found = find(commands(), name);
    if (found != nullptr) last_ = found;
    return found;
  }

  enum class Rights : std::uint8_t { none, decide, reset };
  enum class Replies : std::uint8_t { on, off, skip_next, skip_this };

  // Adds a command on limits to the batch. Returns false for other commands, and on an error, which is then in
  // `join_error_`. Arguments in the parser are overwritten by its next step, so the batch is submitted immediately.
  enum class Location : std::uint8_t { in_parser, in_input };
  [[nodiscard]] bool join(const Command* command, Arguments arguments, Location location, net::Output& out);
  [[nodiscard]] static bool join_throttle(Session& session, Arguments arguments);
  template <bool peeks>
  [[nodiscard]] static bool join_check(Session& session, Arguments arguments);
  [[nodiscard]] static bool join_reset(Session& session, Arguments arguments);
  template <engine::ReceiptRequest::Action action>
  [[nodiscard]] static bool join_receipt(Session& session, Arguments arguments);
  [[nodiscard]] bool fail_join(std::string_view why) {
    join_error_ = why;
    return false;
  }
  // Returns false if the batch is in flight; the output is then paused.
  [[nodiscard]] bool answer_batch(net::Output& out);
  void release_batch();
  [[nodiscard]] CommandBatch& open_batch();
  [[nodiscard]] CommandBatch::Reply reply_mode() const noexcept {
    return replies_ == Replies::on ? CommandBatch::Reply::sent : CommandBatch::Reply::withheld;
  }

  // Handles one step of the parser. Returns false if the input must be read again later.
  [[nodiscard]] bool take(wire::resp::CommandParser::Status status, net::Output& out);
  void execute(const Command* command, Arguments arguments, net::Output& output);
  void dispatch(const Command* command, Arguments arguments, Writer& reply);
  void run(const Command& command, Arguments arguments, Writer& reply);
  void dispatch_within(const Command& container, Arguments arguments, Writer& reply);
  void refuse(const Command* command, const std::string& text, Writer& reply);
  void end(wire::resp::CommandParser::Status status, net::Output& out);

  // MULTI and EXEC.
  [[nodiscard]] bool is_queuing() const noexcept { return transaction_ && !transaction_->running(); }
  void enqueue(Arguments arguments, Writer& reply);
  [[nodiscard]] bool can_exec(const Command* command, Arguments arguments) const noexcept;
  [[nodiscard]] bool run_transaction(net::Output& out);

  [[nodiscard]] bool is_stranger() const noexcept {
    return rights_ == Rights::none && frontend_.options_.token.is_set();
  }
  [[nodiscard]] bool authenticate(std::string_view token) noexcept;
  void set_rights(Rights rights) noexcept;

  // Commands that do not join the batch.

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
  const Command* last_ = commands().data();  // last result of lookup()
  const net::Link link_;
  wire::resp::CommandParser parser_;
  wire::resp::Protocol protocol_ = wire::resp::Protocol::resp2;
  Rights rights_ = Rights::none;
  Replies replies_ = Replies::on;
  bool closing_ = false;
  std::string join_error_;                    // the error reply of the last command that could not join the batch
  std::unique_ptr<CommandBatch> batch_;       // not answered yet; null: none
  std::unique_ptr<Transaction> transaction_;  // since MULTI; null: none

  const std::int64_t id_;
  const std::string address_;  // as ip:port
  std::string name_;
  std::string library_;
  std::string library_version_;
};

}  // namespace weir::frontend
