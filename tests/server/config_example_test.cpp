// Loads the files that users see: examples/weir.yaml and those in the pages.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "server/config.h"

namespace weir::server {
namespace {

const std::filesystem::path source = WEIR_SOURCE_DIR;

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string said(const LoadedConfig& loaded) {
  std::string lines;
  for (const text::Problem& problem : loaded.problems) lines += problem.text() + '\n';
  return lines;
}

// The blocks of a page that are marked as files of this kind.
std::vector<std::string> configs_in(const std::string& page) {
  constexpr std::string_view begin = "```yaml config\n";
  std::vector<std::string> configs;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    configs.push_back(page.substr(at, page.find("\n```", at) + 1 - at));
  }
  return configs;
}

// Uncomments the commented fields, as a user would.
std::string with_all_fields(std::string text) {
  for (const std::string field :
       {"domains", "tls", "token_file", "unix_mode", "hosts", "directory", "hash_key_file", "receipts", "loops"}) {
    const std::size_t at = text.find("# " + field + ":");
    EXPECT_NE(at, std::string::npos) << field;
    if (at != std::string::npos) text.erase(at, 2);
  }
  return text;
}

TEST(TheExample, IsTheDefaultWithAPolicy) {
  const Environment environment{"/var/lib/weir", "", ""};
  const LoadedConfig loaded = load_config(source / "examples/weir.yaml", environment);
  EXPECT_EQ(said(loaded), "");
  ASSERT_TRUE(loaded.config.has_value());
  Config expected = default_config(environment);
  expected.policy = source / "examples/policy.yaml";
  expected.policy_origin = loaded.config->policy_origin;
  for (std::size_t i = 0; i < expected.listeners.size(); ++i) {
    expected.listeners[i].origin = loaded.config->listeners[i].origin;
  }
  EXPECT_EQ(describe(*loaded.config), describe(expected));
  EXPECT_TRUE(std::filesystem::exists(expected.policy.value()));
}

// The example with its commented Redis section instead of `local`.
std::string with_redis(std::string text) {
  const std::size_t at = text.find("store: local");
  text.erase(at + std::string_view("store:").size(), text.find('\n', at) - at - std::string_view("store:").size());
  for (std::size_t line = text.find("\n#   ", at); line != std::string::npos; line = text.find("\n#   ", line)) {
    text.erase(line + 1, 2);
  }
  text.replace(text.find("redis://"), std::string_view("redis://").size(), "rediss://");  // TLS requires it
  return text;
}

TEST(TheExample, LoadsWithARedisAsItShows) {
  const LoadedConfig loaded =
      load_config_text(with_redis(text_of(source / "examples/weir.yaml")), "/etc/weir/weir.yaml", {});
  EXPECT_EQ(said(loaded), "");
  ASSERT_TRUE(loaded.config.has_value());
  EXPECT_EQ(describe(*loaded.config).at(8),
            "store: rediss://127.0.0.1:6379/0, sentinels for master mymaster, user weir, password from "
            "/etc/weir/redis.password, TLS "
            "with a certificate, authorities from /etc/weir/redis-ca.crt, server name redis.internal, keys weir:*, "
            "hashed, timeout 10 ms, startup timeout 3 s");
}

TEST(TheExample, LoadsWithWhatIsCommentedOut) {
  std::string text = with_all_fields(text_of(source / "examples/weir.yaml"));
  constexpr std::string_view address = "127.0.0.1:6390";
  text.replace(text.find(address), address.size(), "unix:/run/weir/resp.sock");  // which the mode is for
  EXPECT_EQ(said(load_config_text(text, "weir.yaml", {})), "");
}

TEST(ThePages, ShowFilesThatLoad) {
  for (const char* page : {"docs/shared-store.md", "docs/reference-weir-yaml.md"}) {
    const std::vector<std::string> configs = configs_in(text_of(source / page));
    EXPECT_FALSE(configs.empty()) << page;
    for (const std::string& config : configs) {
      EXPECT_EQ(said(load_config_text(config, "weir.yaml", {})), "") << config;
    }
  }
}

}  // namespace
}  // namespace weir::server
