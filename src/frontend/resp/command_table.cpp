#include <algorithm>
#include <string>

#include "frontend/resp/argument.h"
#include "frontend/resp/session.h"

namespace weir::frontend {
namespace {

constexpr std::size_t longest_quoted = 128;

// As Redis has it: no longer than that in all, and a space behind each.
std::string quoted(std::span<const std::string_view> arguments) {
  std::string text;
  for (const std::string_view argument : arguments) {
    if (text.size() >= longest_quoted) break;
    text += '\'';
    text += argument.substr(0, longest_quoted - (text.size() - 1));
    text += "' ";
  }
  return text;
}

std::string upper(std::string_view low) {
  std::string text(low);
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

bool takes(int arity, std::size_t arguments) noexcept {
  const auto count = static_cast<int>(arguments);
  return arity < 0 ? count >= -arity : count == arity;
}

std::string wrong_count(std::string_view name) {
  return "ERR wrong number of arguments for '" + std::string(name) + "' command";
}

}  // namespace

// Commands on limits come here only if something is wrong with them: see Session::batch.
// NOLINTNEXTLINE(readability-function-size): a table, a row for each command
std::span<const RespFrontend::Session::Command> RespFrontend::Session::commands() noexcept {
  constexpr auto too = Asked::of_strangers_too;
  constexpr auto at_once = AfterMulti::run_at_once;
  static constexpr Command table[] = {
      {.name = "cl.throttle",
       .arity = -1,
       .key = 1,
       .run = &Session::refuse_throttle,
       .syntax = "key max_burst count period [quantity]",
       .summary = "Takes from a key's rate of its own, as redis-cell does"},
      {.name = "weir.check",
       .arity = -3,
       .run = &Session::refuse_check,
       .syntax = "limit consumer [COST n] [TIER tier] [MAXWAIT milliseconds]",
       .summary = "Takes from a consumer's limit, by the limit's name"},
      {.name = "weir.peek",
       .arity = -3,
       .run = &Session::refuse_check,
       .syntax = "limit consumer [COST n] [TIER tier] [MAXWAIT milliseconds]",
       .summary = "Says what WEIR.CHECK would, and takes nothing"},
      {.name = "weir.reset",
       .arity = 3,
       .run = &Session::refuse_reset,
       .syntax = "limit consumer",
       .summary = "Forgets what a consumer has used of a limit; needs the admin token"},
      {.name = "weir.reserve",
       .arity = -3,
       .run = &Session::refuse_receipt_command,
       .syntax = "limit consumer [COST n] [LEASE milliseconds] [ID id] [TIER tier] [MAXWAIT milliseconds]",
       .summary = "Takes from a consumer's limit, and replies a receipt to settle it by"},
      {.name = "weir.report",
       .arity = -4,
       .run = &Session::refuse_receipt_command,
       .syntax = "limit consumer cost [ID id] [TIER tier]",
       .summary = "Takes what was used already from a consumer's limit, and is never denied"},
      {.name = "weir.settle",
       .arity = 3,
       .run = &Session::refuse_receipt_command,
       .syntax = "receipt actual",
       .summary = "Corrects what was reserved to what it turned out to cost, once"},
      {.name = "weir.release",
       .arity = 2,
       .run = &Session::refuse_receipt_command,
       .syntax = "receipt",
       .summary = "Gives back what was reserved"},
      {.name = "weir.extend",
       .arity = -2,
       .run = &Session::refuse_receipt_command,
       .syntax = "receipt [milliseconds]",
       .summary = "Lets a receipt end later"},
      {.name = "ping",
       .arity = -1,
       .run = &Session::ping,
       .syntax = "[message]",
       .summary = "Says PONG, or the message"},
      {.name = "echo", .arity = 2, .run = &Session::echo, .syntax = "message", .summary = "Says the message"},
      {.name = "auth",
       .arity = -2,
       .run = &Session::auth,
       .syntax = "[username] token",
       .summary = "Shows a token",
       .asked = too},
      {.name = "hello",
       .arity = -1,
       .run = &Session::hello,
       .syntax = "[protover [AUTH username token] [SETNAME name]]",
       .summary = "Chooses the version of the protocol",
       .asked = too},
      {.name = "select",
       .arity = 2,
       .run = &Session::select,
       .syntax = "index",
       .summary = "Takes index 0, the only one"},
      {.name = "client",
       .arity = -2,
       .run = nullptr,
       .syntax = "subcommand ...",
       .summary = "What there is to know of a connection",
       .subcommands = &Session::client_subcommands},
      {.name = "command",
       .arity = -1,
       .run = &Session::command_all,
       .syntax = "[subcommand ...]",
       .summary = "What commands there are",
       .subcommands = &Session::command_subcommands},
      {.name = "config",
       .arity = -2,
       .run = nullptr,
       .syntax = "subcommand ...",
       .summary = "What clients ask of a configuration",
       .subcommands = &Session::config_subcommands},
      {.name = "info",
       .arity = -1,
       .run = &Session::info,
       .syntax = "[section ...]",
       .summary = "What clients ask of a server"},
      {.name = "multi",
       .arity = 1,
       .run = &Session::multi,
       .syntax = "",
       .summary = "Keeps the commands that follow until EXEC",
       .after_multi = at_once},
      {.name = "exec",
       .arity = 1,
       .run = &Session::exec,
       .syntax = "",
       .summary = "Runs the commands since MULTI, in their order",
       .after_multi = at_once},
      {.name = "discard",
       .arity = 1,
       .run = &Session::discard,
       .syntax = "",
       .summary = "Forgets the commands since MULTI",
       .after_multi = at_once},
      {.name = "reset",
       .arity = 1,
       .run = &Session::reset,
       .syntax = "",
       .summary = "Makes the connection as it was when it was new",
       .asked = too,
       .after_multi = at_once},
      {.name = "quit",
       .arity = -1,
       .run = &Session::quit,
       .syntax = "",
       .summary = "Closes the connection",
       .asked = too,
       .after_multi = at_once},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::client_subcommands() noexcept {
  static constexpr Command table[] = {
      {.name = "getname",
       .arity = 2,
       .run = &Session::client_get_name,
       .syntax = "",
       .summary = "The name of this connection"},
      {.name = "id", .arity = 2, .run = &Session::client_id, .syntax = "", .summary = "The number of this connection"},
      {.name = "info", .arity = 2, .run = &Session::client_info, .syntax = "", .summary = "About this connection"},
      {.name = "list",
       .arity = -2,
       .run = &Session::client_list,
       .syntax = "",
       .summary = "About this connection; of others nothing is told"},
      {.name = "no-evict",
       .arity = 3,
       .run = &Session::client_switch,
       .syntax = "ON|OFF",
       .summary = "Does nothing: nobody is evicted"},
      {.name = "no-touch",
       .arity = 3,
       .run = &Session::client_switch,
       .syntax = "ON|OFF",
       .summary = "Does nothing: there are no keys to touch"},
      {.name = "reply",
       .arity = 3,
       .run = &Session::client_reply,
       .syntax = "ON|OFF|SKIP",
       .summary = "Whether commands are answered",
       .after_multi = AfterMulti::refused},
      {.name = "setinfo",
       .arity = 4,
       .run = &Session::client_set_info,
       .syntax = "LIB-NAME name|LIB-VER version",
       .summary = "Names the library that the client uses"},
      {.name = "setname",
       .arity = 3,
       .run = &Session::client_set_name,
       .syntax = "name",
       .summary = "Names this connection"},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::command_subcommands() noexcept {
  static constexpr Command table[] = {
      {.name = "count", .arity = 2, .run = &Session::command_count, .syntax = "", .summary = "How many there are"},
      {.name = "docs",
       .arity = -2,
       .run = &Session::command_docs,
       .syntax = "[name ...]",
       .summary = "What they are for"},
      {.name = "info",
       .arity = -2,
       .run = &Session::command_info,
       .syntax = "[name ...]",
       .summary = "How they are called"},
      {.name = "list", .arity = 2, .run = &Session::command_list, .syntax = "", .summary = "Their names"},
  };
  return table;
}

std::span<const RespFrontend::Session::Command> RespFrontend::Session::config_subcommands() noexcept {
  static constexpr Command table[] = {
      {.name = "get",
       .arity = -3,
       .run = &Session::config_get,
       .syntax = "pattern ...",
       .summary = "The settings that clients look for"},
  };
  return table;
}

const RespFrontend::Session::Command* RespFrontend::Session::find(std::span<const Command> among,
                                                                  std::string_view name) noexcept {
  const auto found = std::ranges::find_if(among, [&](const Command& c) { return equals_ignoring_case(name, c.name); });
  return found == among.end() ? nullptr : &*found;
}

// The refusals come in the order of Redis: unknown, not so many arguments, not allowed.
void RespFrontend::Session::dispatch(Arguments arguments, Writer& reply) {
  const Command* const command = find(commands(), arguments.front());
  if (command == nullptr) {
    std::string text = "ERR unknown command '";
    text += arguments.front().substr(0, longest_quoted);
    text += "', with args beginning with: ";
    refuse(nullptr, text + quoted(arguments.subspan(1)), reply);
  } else if (command->subcommands != nullptr && arguments.size() > 1) {
    dispatch_within(*command, arguments, reply);
  } else if (!takes(command->arity, arguments.size())) {
    refuse(command, wrong_count(command->name), reply);
  } else {
    dispatch(*command, arguments, reply);
  }
}

void RespFrontend::Session::dispatch_within(const Command& container, Arguments arguments, Writer& reply) {
  const std::span<const Command> among = container.subcommands();
  const std::string_view name = arguments[1];
  const std::string title = upper(container.name);
  if (const Command* const found = find(among, name)) {
    if (takes(found->arity, arguments.size())) return dispatch(*found, arguments, reply);
    return refuse(found, wrong_count(std::string(container.name) + '|' + std::string(found->name)), reply);
  }
  if (!equals_ignoring_case(name, "help")) {
    return refuse(
        nullptr,
        "ERR unknown subcommand '" + std::string(name.substr(0, longest_quoted)) + "'. Try " + title + " HELP.", reply);
  }
  if (keeps_commands()) return keep_for_exec(arguments, reply);
  reply.array(1 + 2 * among.size());
  reply.simple_string(title + " <subcommand> [<arg> ...]. Subcommands are:");
  for (const Command& each : among) {
    reply.simple_string(upper(each.name) + (each.syntax.empty() ? "" : " ") + std::string(each.syntax));
    reply.simple_string("    " + std::string(each.summary) + '.');
  }
}

void RespFrontend::Session::dispatch(const Command& command, Arguments arguments, Writer& reply) {
  if (is_stranger() && command.asked == Asked::of_all) {
    return refuse(&command, "NOAUTH Authentication required.", reply);
  }
  if (keeps_commands()) {
    if (command.after_multi == AfterMulti::kept) return keep_for_exec(arguments, reply);
    if (command.after_multi == AfterMulti::refused) {
      return refuse(&command, "ERR Command not allowed inside a transaction", reply);
    }
  }
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
