#include <filesystem>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/environment.h"
#include "app/exit_code.h"
#include "app/load_policy.h"
#include "app/options.h"
#include "observe/consumer_names.h"
#include "observe/hash_key_file.h"
#include "server/config.h"

namespace weir::app {
namespace {

// In the state directory.

constexpr auto footer =
    "The log and weir status --denied name consumers by a hash under a secret key, so that they hold no\n"
    "personal data. Who has the key finds a value again: what this prints stands behind the consumer's kind,\n"
    "as in user:9f3c0d12ab34ef56. An IPv6 address is hashed as it is counted by, with its prefix.\n"
    "\n"
    "Examples:\n"
    "  weir hash alice\n"
    "  grep \"$(weir hash 192.0.2.7)\" /var/log/weir.log\n"
    "  weir hash 2001:db8::/64 --key-file /var/lib/weir/log.key\n"
    "\n"
    "Exit codes: 0 all went well, 1 the key cannot be read, 2 the command line is wrong.";

struct Options {
  std::string value;
  std::string key_file;
};

int hash(const Options& options) {
  std::filesystem::path file = options.key_file;
  if (file.empty()) {
    const std::filesystem::path directory = server::default_config(environment()).state.directory;
    if (directory.empty())
      return give_up("HOME is not set, so there is no state directory; --key-file FILE names the key");
    file = directory / observe::hash_key_file;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {  // a new key would hash to what nobody has ever logged
    return give_up(file.string() +
                   ": there is no key; weir serve makes one at its first start, and --key-file FILE "
                   "names another");
  }
  const auto key = observe::open_hash_key(file.string());
  if (!key) return give_up(key.error().message());
  fmt::print("{}\n", observe::ConsumerNames(*key).hash_of(options.value));
  return ok;
}

}  // namespace

Command hash_command(CLI::App& weir) {
  auto options = std::make_shared<Options>();
  auto* line = weir.add_subcommand("hash", "Say what a value looks like in the log");
  line->footer(footer);
  add_text(*line, "VALUE", options->value, " ", "A user, a key, an address")->required();
  add_file(*line, "--key-file", options->key_file, "The key (default: log.key in the state directory)");
  return {line, [options] { return hash(*options); }};
}

}  // namespace weir::app
