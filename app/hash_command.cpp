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
    "The log and weir status --denied name consumers by a hash under a secret key, so that they hold no\n"
    "personal data. With the key a value can be found again: what this prints stands behind the kind of the\n"
    "consumer, as in user:9f3c0d12ab34ef56. An IPv6 address is hashed as it is counted by, with its prefix.\n"
    "The key is the one that weir.yaml names (log.hash_key_file), or log.key in the state directory, and a\n"
    "running server is checked to have the same. One that --key-file names is taken as it is.\n"
    "\n"
    "Examples:\n"
    "  weir hash alice\n"
    "  grep \"$(weir hash 192.0.2.7)\" /var/log/weir.log\n"
    "  weir hash 2001:db8::/64 --key-file /var/lib/weir/log.key\n"
    "\n"
    "Exit codes: 0 success, 1 the key cannot be read or is not the server's, 2 the command line is wrong.";

struct HashOptions {
  AdminOptions admin;
  std::string value;
  std::string key_file;
};

// A hash under another key is in no log. Nothing if the server has this key, or does not say.
std::optional<Error> refuse_other_key(const AdminOptions& options, const std::filesystem::path& file,
                                      const observe::ConsumerNames& names) {
  const auto answer = admin_request(options, Right::read, "/v1/status");
  if (!answer) return {};
  const std::string id = answer->json.text("/state/hash_key_id");
  if (id.empty() || id == names.hash_of("")) return {};
  const std::string directory = answer->json.text("/state/directory");
  return Error{file.string(),
               "is not the key of the running server" +
                   (directory.empty() ? ", which keeps none" : ", whose state directory is " + directory) +
                   "; --config FILE names its weir.yaml, --key-file FILE the key"};
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
  if (!std::filesystem::exists(file, ignored)) {  // a new key would hash to what nobody has ever logged
    return give_up(file.string() +
                   ": there is no key; weir serve makes one at its first start, and --key-file FILE "
                   "names another");
  }
  const auto key = observe::open_hash_key(file.string());
  if (!key) return give_up(key.error().message());
  const observe::ConsumerNames names(*key);
  if (options.key_file.empty()) {
    if (const auto other = refuse_other_key(options.admin, file, names)) return give_up(other->message());
  }
  fmt::print("{}\n", names.hash_of(options.value));
  return ok;
}

}  // namespace

Command hash_command(CLI::App& weir) {
  auto options = std::make_shared<HashOptions>();
  auto* line = weir.add_subcommand("hash", "Print the hash that the log shows for a value");
  line->footer(hash_footer);
  add_text(*line, "VALUE", options->value, " ", "A user, a key, an address")->required();
  add_file(*line, "--key-file", options->key_file, "The key (default: the server's, by weir.yaml)");
  add_admin_options(*line, options->admin);
  return {line, [options] { return hash(*options); }};
}

}  // namespace weir::app
