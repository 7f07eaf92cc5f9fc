// How the commands that ask a running server reach it: the options that they share, and one question over HTTP.
#pragma once

#include <string>
#include <string_view>

#include "app/json_answer.h"
#include "app/parser.h"
#include "weir/result.h"

namespace weir::app {

struct AdminOptions {
  std::string address = "127.0.0.1:8089";
  std::string token_file;  // empty: the one in the state directory, if the server is on this machine
  std::string ca;
};

// `options` outlives the parsing.
void add_admin_options(CLI::App& line, AdminOptions& options);

// The help's paragraph about them.
inline constexpr auto admin_footer =
    "The server is asked through its admin door. --admin is where that listens: HOST:PORT, https://HOST:PORT\n"
    "or unix:PATH. A token is taken from --token-file; for a server on this machine it is by default that of\n"
    "the state directory (STATE_DIRECTORY, or weir in XDG_STATE_HOME, or ~/.local/state/weir).\n";

enum class Right { read, change };

struct AdminAnswer {
  std::string text;
  JsonAnswer json;  // the same
};

// An answer that is no success is an error in the server's words.
[[nodiscard]] Result<AdminAnswer> ask_admin(const AdminOptions& options, Right right, std::string_view target);

// For a segment of a target, or a parameter's value.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace weir::app
