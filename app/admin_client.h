// How the commands that ask a running server reach it: the options that they share, and one question over HTTP.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/json_answer.h"
#include "app/parser.h"
#include "server/config.h"
#include "weir/result.h"

namespace weir::app {

struct AdminOptions {
  std::string config;       // empty: as weir serve finds it
  std::string address;      // empty: as weir.yaml says
  std::string token_file;   // empty: by weir.yaml, or the one in the state directory
  std::string ca;           // empty: on this machine, the certificate that weir.yaml names
  std::string certificate;  // shown to a server that asks for one
  std::string key;
};

// Where the key is that the server's log hashes consumers by.
[[nodiscard]] Result<std::filesystem::path> hash_key_file_by(const server::Config& config);

// `options` outlives the parsing.
void add_admin_options(CLI::App& line, AdminOptions& options);

// The help's paragraph about them.
inline constexpr auto admin_footer =
    "The server is asked through its admin door. Where that listens, and which token it wants, is in the\n"
    "weir.yaml that the server was started with: --config FILE, else WEIR_CONFIG, else /etc/weir/weir.yaml,\n"
    "else the defaults. --admin names another place: HOST:PORT, https://HOST:PORT or unix:PATH.\n";

enum class Right { read, change };

// The configuration of the server that is asked. An error if there is a mistake in the file.
[[nodiscard]] Result<server::Config> server_config(const std::string& flag);

// Where a server with this configuration keeps its secrets: what weir.yaml names, or the environment, or else where the
// service has them. Empty: nothing says where.
[[nodiscard]] std::filesystem::path secrets_directory(const server::Config& config);

struct AdminAnswer {
  std::string text;
  JsonAnswer json;  // the same
};

// An answer that is no success is an error in the server's words.
[[nodiscard]] Result<AdminAnswer> ask_admin(const AdminOptions& options, Right right, std::string_view target);

// For a segment of a target or a parameter's value; or for a parameter's name, in which `=` has a meaning.
enum class Encoding { value, parameter };
[[nodiscard]] std::string percent_encoded(std::string_view text, Encoding encoding = Encoding::value);

}  // namespace weir::app
