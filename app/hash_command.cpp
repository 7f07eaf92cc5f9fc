#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/server_config.h"
#include "app/terminal.h"
#include "observe/consumer_names.h"
#include "server/config.h"

namespace weir::app {
namespace {

constexpr auto hash_footer =
    "The log and weir status --denied show consumers as hashes under a secret key, so they contain no\n"
    "personal data. Use this command to find the hash of a known consumer: the log has it after the kind,\n"
    "as in user:9f3c0d12ab34ef56. IPv6 addresses are hashed with their prefix, as they are counted. The key\n"
    "is log.hash_key_file in weir.yaml, or log.key in the state directory; a running server must use the\n"
    "same. A key from --key-file is not compared with the server's.\n"
    "\n"
    "Examples:\n"
    "  weir hash alice\n"
    "  grep \"$(weir hash 192.0.2.7)\" /var/log/weir.log\n"
    "  weir hash 2001:db8::/64 --key-file /var/lib/weir/log.key\n"
    "\n"
    "Exit codes: 0 success, 1 the key is unreadable or differs from the server's, 2 usage error.";

struct HashOptions {
  AdminOptions admin;
  std::string value;
  std::string key_file;
};

// A hash under another key matches no log line. Returns an error if the server uses another key.
std::optional<Error> reject_other_key(const AdminOptions& options, const std::filesystem::path& file,
                                      const observe::ConsumerNames& names) {
  const auto answer = admin_request(options, Right::read, "/v1/status");
  if (!answer) return {};
  const std::string id = answer->json.text("/state/hash_key_id");
  if (id.empty() || id == names.hash_of("")) return {};
  const std::string directory = answer->json.text("/state/directory");
  return Error{file.string(),
               "differs from the key of the running server" +
                   (directory.empty() ? ", which has no state directory" : ", whose state directory is " + directory) +
                   "; use --config FILE for its weir.yaml, or --key-file FILE"};
}

int hash(const HashOptions& options) {
  std::filesystem::path file = options.key_file;
  if (file.empty()) {
    const auto config = server_config(options.admin.config);
    if (!config) return give_up(config.error().message());
    auto found = hash_key_file_by(*config);
    if (!found) return give_up(found.error().message());
    file = std::move(*found);
  }
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {  // a new key would match no log line
    return give_up(file.string() +
                   ": missing key; weir serve creates it at its first start; use --key-file FILE for another file");
  }
  const auto key = observe::open_hash_key(file.string());
  if (!key) return give_up(key.error().message());
  const observe::ConsumerNames names(*key);
  if (options.key_file.empty()) {
    if (const auto other = reject_other_key(options.admin, file, names)) return give_up(other->message());
  }
  fmt::print("{}\n", names.hash_of(options.value));
  return ok;
}

}  // namespace

Command hash_command(CLI::App& weir) {
  auto options = std::make_shared<HashOptions>();
  auto* line = weir.add_subcommand("hash", "Print the hash of a value in the log");
  line->footer(hash_footer);
  add_text(*line, "VALUE", options->value, " ", "User, API key or address")->required();
  add_file(*line, "--key-file", options->key_file, "Key file (default: the server's, from weir.yaml)");
  add_admin_options(*line, options->admin);
  return {line, [options] { return hash(*options); }};
}

}  // namespace weir::app
