#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "frontend/resp/receipt_commands.h"
#include "frontend/resp/session.h"
#include "wire/resp/throttle.h"

namespace weir::frontend {
namespace {

constexpr std::size_t max_quoted_length = 128;

// Formats arguments like Redis: truncated, with a space after each.
std::string quoted(std::span<const std::string_view> arguments) {
  std::string text;
  for (const std::string_view argument : arguments) {
    if (text.size() >= max_quoted_length) break;
    text += '\'';
    text += argument.substr(0, max_quoted_length - (text.size() - 1));
    text += "' ";
  }
  return text;
}

std::string wrong_count(std::string_view name) {
  return "ERR wrong number of arguments for '" + std::string(name) + "' command";
}

}  // namespace

// Prefetches the state as soon as the key is known, while the numbers and the next commands are read.
bool RespFrontend::Session::join_throttle(Session& session, Arguments arguments) {
  RespFrontend& frontend = session.frontend_;
  if (arguments.size() >= 2) {
    const table::KeyHash hash = frontend.context_.evaluator().seek_throttle(arguments[1]);
    if (const ThrottleLimits::Read* const read = frontend.throttle_limits_.read(arguments)) {
      session.open_batch().add_throttle(frontend.context_, hash, arguments[1], read->limit, read->quantity,
                                        session.reply_mode());
      return true;
    }
  }
  const auto parsed = wire::resp::parse_throttle(arguments);
  if (!parsed) return session.fail_join(parsed.error().message());
  const auto limit = frontend.throttle_limits_.get(parsed->numbers);
  return session.fail_join(limit ? "" : limit.error().message());
}

template <bool peeks>
bool RespFrontend::Session::join_check(Session& session, Arguments arguments) {
  match::NamedQuery query = named_query(arguments, peeks, peeks);
  const std::string_view wrong = read_options(arguments.subspan(3), query);
  if (!wrong.empty()) return session.fail_join(wrong);
  session.open_batch().add(session.frontend_.context_, query, session.reply_mode());
  return true;
}

bool RespFrontend::Session::join_reset(Session& session, Arguments arguments) {
  if (session.rights_ != Rights::reset) {
    return session.fail_join(session.frontend_.options_.admin_token.is_set()
                                 ? "NOPERM WEIR.RESET requires the admin token: send it by AUTH first"
                                 : "NOPERM WEIR.RESET requires the admin token, and this server has none");
  }
  const match::NamedQuery query = named_query(arguments, false, true);
  session.open_batch().add_reset(session.frontend_.context_, query, session.reply_mode());
  return true;
}

template <engine::ReceiptRequest::Action action>
bool RespFrontend::Session::join_receipt(Session& session, Arguments arguments) {
  LoopContext& context = session.frontend_.context_;
  ReceiptCommand command;
  const std::string wrong = read_receipt_command(action, arguments, context.receipt_texts(), command);
  if (!wrong.empty()) return session.fail_join(wrong);
  session.open_batch().add(context, command, session.reply_mode());
  return true;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::commands() noexcept {
  using Action = engine::ReceiptRequest::Action;
  constexpr auto all = Access::authenticated;
  constexpr auto anyone = Access::anyone;
  constexpr auto queued = AfterMulti::queued;
  constexpr auto at_once = AfterMulti::run_at_once;
  constexpr auto joins = [](CommandName name, int arity, Join join, std::string_view syntax, std::string_view summary,
                            int key = 0) {
    return Command{name, arity, nullptr, syntax, summary, all, queued, nullptr, join, key};
  };
  static constexpr Command table[] = {
      joins("cl.throttle", -1, join_throttle, "key max_burst count period [quantity]",
            "Rate-limits a key by the given numbers, like redis-cell", 1),
      joins("weir.check", -3, join_check<false>, "limit consumer [COST n] [TIER tier] [MAXWAIT milliseconds]",
            "Checks and charges a consumer at a named limit"),
      joins("weir.peek", -3, join_check<true>, "limit consumer [COST n] [TIER tier] [MAXWAIT milliseconds]",
            "Returns what WEIR.CHECK would, without charging"),
      joins("weir.reset", 3, join_reset, "limit consumer", "Resets a consumer at a limit; requires the admin token"),
      joins("weir.reserve", -3, join_receipt<Action::reserve>,
            "limit consumer [COST n] [LEASE milliseconds] [ID id] [TIER tier] [MAXWAIT milliseconds]",
            "Reserves units of a limit and returns a receipt to settle them"),
      joins("weir.report", -4, join_receipt<Action::report>, "limit consumer cost [ID id] [TIER tier]",
            "Charges units that were already used; never denied"),
      joins("weir.settle", 3, join_receipt<Action::settle>, "receipt actual",
            "Settles a reservation at its actual cost, once"),
      joins("weir.release", 2, join_receipt<Action::release>, "receipt", "Releases a reservation"),
      joins("weir.extend", -2, join_receipt<Action::extend>, "receipt [milliseconds]",
            "Extends the lease of a receipt"),
      {"ping", -1, &Session::ping, "[message]", "Returns PONG, or the message"},
      {"echo", 2, &Session::echo, "message", "Returns the message"},
      {"auth", -2, &Session::auth, "[username] token", "Authenticates with a token", anyone},
      {"hello", -1, &Session::hello, "[protover [AUTH username token] [SETNAME name]]", "Selects the protocol version",
       anyone},
      {"select", 2, &Session::select, "index", "Accepts only index 0"},
      {"client", -2, nullptr, "subcommand ...", "Commands on this connection", all, queued,
       &Session::client_subcommands},
      {"command", -1, &Session::command_all, "[subcommand ...]", "Describes the commands", all, queued,
       &Session::command_subcommands},
      {"config", -2, nullptr, "subcommand ...", "Settings that clients read", all, queued,
       &Session::config_subcommands},
      {"info", -1, &Session::info, "[section ...]", "Describes the server"},
      {"multi", 1, &Session::multi, "", "Starts a transaction", all, at_once},
      {"exec", 1, &Session::exec, "", "Runs the queued commands in order", all, at_once},
      {"discard", 1, &Session::discard, "", "Discards the queued commands", all, at_once},
      {"reset", 1, &Session::reset, "", "Resets the connection to its initial state", anyone, at_once},
      {"quit", -1, &Session::quit, "", "Closes the connection", anyone, at_once},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::client_subcommands() noexcept {
  static constexpr Command table[] = {
      {"getname", 2, &Session::client_get_name, "", "Returns the name of this connection"},
      {"id", 2, &Session::client_id, "", "Returns the id of this connection"},
      {"info", 2, &Session::client_info, "", "Describes this connection"},
      {"list", -2, &Session::client_info, "", "Describes this connection only"},
      {"no-evict", 3, &Session::client_switch, "ON|OFF", "Has no effect: clients are not evicted"},
      {"no-touch", 3, &Session::client_switch, "ON|OFF", "Has no effect: there are no keys to touch"},
      {"reply", 3, &Session::client_reply, "ON|OFF|SKIP", "Turns replies on or off", Access::authenticated,
       AfterMulti::refused},
      {"setinfo", 4, &Session::client_set_info, "LIB-NAME name|LIB-VER version", "Sets the name of the client library"},
      {"setname", 3, &Session::client_set_name, "name", "Sets the name of this connection"},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::command_subcommands() noexcept {
  static constexpr Command table[] = {
      {"count", 2, &Session::command_count, "", "Returns the number of commands"},
      {"docs", -2, &Session::command_docs, "[name ...]", "Returns the summaries of commands"},
      {"info", -2, &Session::command_info, "[name ...]", "Returns the arities of commands"},
      {"list", 2, &Session::command_list, "", "Returns the names of all commands"},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::config_subcommands() noexcept {
  static constexpr Command table[] = {
      {"get", -3, &Session::config_get, "pattern ...", "Returns the settings that clients read"},
  };
  return table;
}

const RespFrontend::Session::Command* RespFrontend::Session::find(std::span<const Command> among,
                                                                  std::string_view name) noexcept {
  const auto found = std::ranges::find_if(among, [&](const Command& c) { return c.name.is(name); });
  return found == among.end() ? nullptr : &*found;
}

// Errors take precedence as in Redis: unknown command, number of arguments, permission.
void RespFrontend::Session::dispatch(const Command* command, Arguments arguments, Writer& reply) {
  if (command == nullptr) {
    std::string text = "ERR unknown command '";
    text += arguments.front().substr(0, max_quoted_length);
    text += "', with args beginning with: ";
    refuse(nullptr, text + quoted(arguments.subspan(1)), reply);
  } else if (command->subcommands != nullptr && arguments.size() > 1) {
    dispatch_within(*command, arguments, reply);
  } else if (!command->takes(arguments.size())) {
    refuse(command, wrong_count(command->name.text()), reply);
  } else {
    run(*command, arguments, reply);
  }
}

void RespFrontend::Session::dispatch_within(const Command& container, Arguments arguments, Writer& reply) {
  const std::span<const Command> among = container.subcommands();
  const std::string_view name = arguments[1];
  const std::string title = base::upper(container.name.text());
  if (const Command* const found = find(among, name)) {
    if (found->takes(arguments.size())) return run(*found, arguments, reply);
    return refuse(found, wrong_count(std::string(container.name.text()) + '|' + std::string(found->name.text())),
                  reply);
  }
  if (!base::equals_lower(name, "help")) {
    return refuse(
        nullptr,
        "ERR unknown subcommand '" + std::string(name.substr(0, max_quoted_length)) + "'. Try " + title + " HELP.",
        reply);
  }
  if (is_queuing()) return enqueue(arguments, reply);
  reply.array(1 + 2 * among.size());
  reply.simple_string(title + " <subcommand> [<arg> ...]. Subcommands are:");
  for (const Command& each : among) {
    reply.simple_string(base::upper(each.name.text()) + (each.syntax.empty() ? "" : " ") + std::string(each.syntax));
    reply.simple_string("    " + std::string(each.summary) + '.');
  }
}

void RespFrontend::Session::run(const Command& command, Arguments arguments, Writer& reply) {
  if (is_stranger() && command.access == Access::authenticated) {
    return refuse(&command, "NOAUTH Authentication required.", reply);
  }
  if (is_queuing()) {
    if (command.after_multi == AfterMulti::queued) return enqueue(arguments, reply);
    if (command.after_multi == AfterMulti::refused) {
      return refuse(&command, "ERR Command not allowed inside a transaction", reply);
    }
  }
  if (command.join != nullptr) return reply.error(join_error_);
  (this->*command.run)(arguments, reply);
}

// A rejected command aborts the transaction.
void RespFrontend::Session::refuse(const Command* command, const std::string& text, Writer& reply) {
  if (command != nullptr && command->run == &Session::exec) {
    transaction_.reset();
    const std::string reason = text.starts_with("ERR ") ? text.substr(4) : text;
    return reply.error("EXECABORT Transaction discarded because of: " + reason);
  }
  if (is_queuing()) transaction_->abort();
  reply.error(text);
}

}  // namespace weir::frontend
