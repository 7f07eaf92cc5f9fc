#include "server/sources.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/temporary_folder.h"

namespace weir::server {
namespace {

class LoadedSources : public testing::Test {
 protected:
  std::filesystem::path write(std::string_view name, std::string_view text) {
    std::ofstream(folder_.path() / name) << text;
    return folder_.path() / name;
  }

  Loaded load_with(const std::string& denied) {
    const auto config =
        write("weir.yaml", "version: 1\npolicy: policy.yaml\ndomains: { shop: { denied: " + denied + " } }\n");
    return load({.config_file = config, .policy_file = {}, .environment = {}});
  }

  TemporaryFolder folder_;
};

TEST_F(LoadedSources, NodesThatChargeDeniedCallsDifferentlyHaveDifferentDigests) {
  write("policy.yaml",
        "domain: shop\ndescriptors:\n  - { key: user, rate_limit: { unit: hour, requests_per_unit: 5 } }\n");
  const Loaded nothing = load_with("charge_nothing");
  const Loaded all = load_with("charge_all");
  ASSERT_TRUE(nothing.complete()) << nothing.errors();
  ASSERT_TRUE(all.complete()) << all.errors();
  EXPECT_TRUE(all.ruleset->domains.at(0).charges_denied);
  EXPECT_FALSE(nothing.ruleset->domains.at(0).charges_denied);
  EXPECT_NE(all.ruleset->digest, nothing.ruleset->digest);
}

}  // namespace
}  // namespace weir::server
