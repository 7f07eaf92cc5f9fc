#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "frontend/resp/receipt_commands.h"
#include "frontend/resp/session.h"
#include "wire/resp/throttle.h"

namespace weir::frontend {
namespace {

constexpr std::size_t max_quoted_length = 128;

// As Redis has it: no longer than that in all, and a space behind each.
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

// The state is on its way into the cache from the moment its key is known, while the numbers and the next commands are
// read.
bool RespFrontend::Session::join_throttle(Session& session, Arguments arguments) {
  RespFrontend& frontend = session.frontend_;
  if (arguments.size() >= 2) {
    const table::KeyHash hash = frontend.context_.evaluator().seek_throttle(arguments[1]);
    if (const ThrottleLimits::Read* const read = frontend.throttle_limits_.read(arguments)) {
      session.open_batch().add_throttle(frontend.context_, hash, arguments[1], read->limit, read->quantity,
                                        session.wanted_reply());
      return true;
    }
  }
  const auto asked = wire::resp::parse_throttle(arguments);
  if (!asked) return session.refuse_to_join(asked.error().message());
  const auto limit = frontend.throttle_limits_.get(asked->numbers);
  return session.refuse_to_join(limit ? "" : limit.error().message());
}

template <bool peeks>
bool RespFrontend::Session::join_check(Session& session, Arguments arguments) {
  match::NamedQuery ask = named_ask(arguments, peeks, peeks);
  const std::string_view wrong = read_options(arguments.subspan(3), ask);
  if (!wrong.empty()) return session.refuse_to_join(wrong);
  session.open_batch().add(session.frontend_.context_, ask, session.wanted_reply());
  return true;
}

bool RespFrontend::Session::join_reset(Session& session, Arguments arguments) {
  if (session.rights_ != Rights::reset) {
    return session.refuse_to_join(session.frontend_.options_.admin_token.is_set()
                                      ? "NOPERM WEIR.RESET needs the admin token: show it by AUTH first"
                                      : "NOPERM WEIR.RESET needs the admin token, and this server has none");
  }
  const match::NamedQuery ask = named_ask(arguments, false, true);
  session.open_batch().add_reset(session.frontend_.context_, ask, session.wanted_reply());
  return true;
}

template <engine::ReceiptAsk::What what>
bool RespFrontend::Session::join_receipt(Session& session, Arguments arguments) {
  LoopContext& context = session.frontend_.context_;
  ReceiptQuestion question;
  const std::string wrong = read_receipt_command(what, arguments, context.receipt_texts(), question);
  if (!wrong.empty()) return session.refuse_to_join(wrong);
  session.open_batch().add(context, question, session.wanted_reply());
  return true;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::commands() noexcept {
  using What = engine::ReceiptAsk::What;
  constexpr auto all = Asked::of_all;
  constexpr auto too = Asked::of_strangers_too;
  constexpr auto kept = AfterMulti::kept;
  constexpr auto at_once = AfterMulti::run_at_once;
  constexpr auto joins = [](CommandName name, int arity, Join join, std::string_view syntax, std::string_view summary,
                            int key = 0) {
    return Command{name, arity, nullptr, syntax, summary, all, kept, nullptr, join, key};
  };
  static constexpr Command table[] = {
      joins("cl.throttle", -1, join_throttle, "key max_burst count period [quantity]",
            "Takes from a key's rate of its own, as redis-cell does", 1),
      joins("weir.check", -3, join_check<false>, "limit consumer [COST n] [TIER tier] [MAXWAIT milliseconds]",
            "Takes from a consumer's limit, by the limit's name"),
      joins("weir.peek", -3, join_check<true>, "limit consumer [COST n] [TIER tier] [MAXWAIT milliseconds]",
            "Says what WEIR.CHECK would, and takes nothing"),
      joins("weir.reset", 3, join_reset, "limit consumer",
            "Forgets what a consumer has used of a limit; needs the admin token"),
      joins("weir.reserve", -3, join_receipt<What::reserve>,
            "limit consumer [COST n] [LEASE milliseconds] [ID id] [TIER tier] [MAXWAIT milliseconds]",
            "Takes from a consumer's limit, and replies a receipt to settle it by"),
      joins("weir.report", -4, join_receipt<What::report>, "limit consumer cost [ID id] [TIER tier]",
            "Takes what was used already from a consumer's limit, and is never denied"),
      joins("weir.settle", 3, join_receipt<What::settle>, "receipt actual",
            "Corrects what was reserved to what it turned out to cost, once"),
      joins("weir.release", 2, join_receipt<What::release>, "receipt", "Gives back what was reserved"),
      joins("weir.extend", -2, join_receipt<What::extend>, "receipt [milliseconds]", "Lets a receipt end later"),
      {"ping", -1, &Session::ping, "[message]", "Says PONG, or the message"},
      {"echo", 2, &Session::echo, "message", "Says the message"},
      {"auth", -2, &Session::auth, "[username] token", "Shows a token", too},
      {"hello", -1, &Session::hello, "[protover [AUTH username token] [SETNAME name]]",
       "Chooses the version of the protocol", too},
      {"select", 2, &Session::select, "index", "Takes index 0, the only one"},
      {"client", -2, nullptr, "subcommand ...", "What there is to know of a connection", all, kept,
       &Session::client_subcommands},
      {"command", -1, &Session::command_all, "[subcommand ...]", "What commands there are", all, kept,
       &Session::command_subcommands},
      {"config", -2, nullptr, "subcommand ...", "What clients ask of a configuration", all, kept,
       &Session::config_subcommands},
      {"info", -1, &Session::info, "[section ...]", "What clients ask of a server"},
      {"multi", 1, &Session::multi, "", "Keeps the commands that follow until EXEC", all, at_once},
      {"exec", 1, &Session::exec, "", "Runs the commands since MULTI, in their order", all, at_once},
      {"discard", 1, &Session::discard, "", "Forgets the commands since MULTI", all, at_once},
      {"reset", 1, &Session::reset, "", "Makes the connection as it was when it was new", too, at_once},
      {"quit", -1, &Session::quit, "", "Closes the connection", too, at_once},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::client_subcommands() noexcept {
  static constexpr Command table[] = {
      {"getname", 2, &Session::client_get_name, "", "The name of this connection"},
      {"id", 2, &Session::client_id, "", "The number of this connection"},
      {"info", 2, &Session::client_info, "", "About this connection"},
      {"list", -2, &Session::client_info, "", "About this connection; of others nothing is told"},
      {"no-evict", 3, &Session::client_switch, "ON|OFF", "Does nothing: nobody is evicted"},
      {"no-touch", 3, &Session::client_switch, "ON|OFF", "Does nothing: there are no keys to touch"},
      {"reply", 3, &Session::client_reply, "ON|OFF|SKIP", "Whether commands are answered", Asked::of_all,
       AfterMulti::refused},
      {"setinfo", 4, &Session::client_set_info, "LIB-NAME name|LIB-VER version",
       "Names the library that the client uses"},
      {"setname", 3, &Session::client_set_name, "name", "Names this connection"},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::command_subcommands() noexcept {
  static constexpr Command table[] = {
      {"count", 2, &Session::command_count, "", "How many there are"},
      {"docs", -2, &Session::command_docs, "[name ...]", "What they are for"},
      {"info", -2, &Session::command_info, "[name ...]", "How they are called"},
      {"list", 2, &Session::command_list, "", "Their names"},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::config_subcommands() noexcept {
  static constexpr Command table[] = {
      {"get", -3, &Session::config_get, "pattern ...", "The settings that clients look for"},
  };
  return table;
}

const RespFrontend::Session::Command* RespFrontend::Session::find(std::span<const Command> among,
                                                                  std::string_view name) noexcept {
  const auto found = std::ranges::find_if(among, [&](const Command& c) { return c.name.is(name); });
  return found == among.end() ? nullptr : &*found;
}

// The refusals come in the order of Redis: unknown, not so many arguments, not allowed.
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
  if (keeps_commands()) return keep_for_exec(arguments, reply);
  reply.array(1 + 2 * among.size());
  reply.simple_string(title + " <subcommand> [<arg> ...]. Subcommands are:");
  for (const Command& each : among) {
    reply.simple_string(base::upper(each.name.text()) + (each.syntax.empty() ? "" : " ") + std::string(each.syntax));
    reply.simple_string("    " + std::string(each.summary) + '.');
  }
}

void RespFrontend::Session::run(const Command& command, Arguments arguments, Writer& reply) {
  if (is_stranger() && command.asked == Asked::of_all) {
    return refuse(&command, "NOAUTH Authentication required.", reply);
  }
  if (keeps_commands()) {
    if (command.after_multi == AfterMulti::kept) return keep_for_exec(arguments, reply);
    if (command.after_multi == AfterMulti::refused) {
      return refuse(&command, "ERR Command not allowed inside a transaction", reply);
    }
  }
  if (command.join != nullptr) return reply.error(wrong_);
  (this->*command.run)(arguments, reply);
}

// A command that is refused spoils the transaction that it was meant for.
void RespFrontend::Session::refuse(const Command* command, const std::string& text, Writer& reply) {
  if (command != nullptr && command->run == &Session::exec) {
    transaction_.reset();
    const std::string reason = text.starts_with("ERR ") ? text.substr(4) : text;
    return reply.error("EXECABORT Transaction discarded because of: " + reason);
  }
  if (keeps_commands()) transaction_->spoil();
  reply.error(text);
}

}  // namespace weir::frontend
