#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/terminal.h"
#include "policy/tools/starter.h"
#include "policy_test/test_file.h"
#include "server/config.h"
#include "text/yaml/document.h"
#include "text/yaml/problem.h"

namespace weir::app {
namespace {

constexpr auto init_footer =
    "Writes a commented policy that is valid as it is, for you to edit. With --from, it lists the\n"
    "operations of an OpenAPI document and limits those that look like a sign-in. policy.test.yaml, beside\n"
    "it, has tests of the policy (weir test); the standard output gets the policy only.\n"
    "\n"
    "Examples:\n"
    "  weir init\n"
    "  weir init --from openapi.yaml - | less\n"
    "\n"
    "Exit codes: 0 success, 1 nothing was written (the file exists, or the document is unreadable), 2 usage\n"
    "error.";

struct InitOptions {
  std::string openapi;
  std::string file = "policy.yaml";
  bool is_forced = false;
};

std::optional<std::string> policy_from(const std::string& openapi) {
  const auto document = read_file(openapi, text::max_bytes);
  if (!document) {
    (void)give_up(document.error().message());
    return {};
  }
  text::Problems problems(openapi);
  auto text = policy::starter_policy(*document, problems);
  const Paint paint(stderr);
  for (const text::Problem& problem : problems.sorted()) fmt::print(stderr, "{}", problem_line(problem, paint));
  return text;
}

// `policy.test.yaml` for `policy.yaml`.
std::string test_file_of(const std::string& policy) {
  for (const std::string_view suffix : {".yaml", ".yml"}) {
    if (policy.ends_with(suffix)) {
      return policy.substr(0, policy.size() - suffix.size()) + std::string(policy_test::test_suffix);
    }
  }
  return policy + std::string(policy_test::test_suffix);
}

int init(const InitOptions& options) {
  const auto text = options.openapi.empty() ? policy::starter_policy() : policy_from(options.openapi);
  if (!text) return failed;
  if (options.file == "-") {
    print(*text);
    return ok;
  }
  const std::string test_file = test_file_of(options.file);
  std::error_code error;
  if (!options.is_forced && std::filesystem::exists(test_file, error)) {
    return give_up(test_file + ": already exists; --force replaces it");
  }
  const Existing existing = options.is_forced ? Existing::replaced : Existing::rejected;
  const auto written = write_file(options.file, *text, existing);
  if (!written) return give_up(written.error().message());
  fmt::print("Wrote {}. Validate it: weir lint {}\n", printable(options.file), printable(options.file));
  if (!std::filesystem::is_regular_file(options.file, error)) return ok;  // a device has no file beside it
  const auto ruleset = load_policy(options.file);
  if (!ruleset) return failed;
  const auto tests = write_file(test_file, policy_test::starter_tests(*ruleset, options.file, test_file), existing);
  if (!tests) return give_up(tests.error().message());
  fmt::print("Wrote {}. Run it: weir test {}\n", printable(test_file), printable(test_file));
  return ok;
}

constexpr auto schema_footer =
    "With the schema, editors complete and validate the file while you write it. For editors with the YAML\n"
    "language server, this first line of a policy is enough:\n"
    "  # yaml-language-server: $schema=policy.schema.json\n"
    "\n"
    "Examples:\n"
    "  weir schema > policy.schema.json\n"
    "  weir schema --config > weir.schema.json\n"
    "  weir schema --tests > policy-test.schema.json\n"
    "\n"
    "Exit codes: 0 success, 1 the schema could not be written, 2 usage error.";

}  // namespace

Command init_command(CLI::App& weir) {
  auto options = std::make_shared<InitOptions>();
  auto* line = weir.add_subcommand("init", "Write a commented starter policy");
  line->footer(init_footer);
  add_file(*line, "FILE", options->file, "Output file (default: policy.yaml; - is the standard output)");
  add_file(*line, "--from", options->openapi, "OpenAPI document (YAML or JSON) with the operations");
  line->add_flag("--force", options->is_forced, "Replace an existing file");
  return {line, [options] { return init(*options); }};
}

Command schema_command(CLI::App& weir) {
  struct SchemaOptions {
    bool of_config = false;
    bool of_tests = false;
  };
  auto options = std::make_shared<SchemaOptions>();
  auto* line = weir.add_subcommand("schema", "Print the JSON Schema of policy.yaml, weir.yaml or test files");
  line->footer(schema_footer);
  auto* config = line->add_flag("--config", options->of_config, "Print the schema of weir.yaml");
  line->add_flag("--tests", options->of_tests, "Print the schema of test files")->excludes(config);
  return {line, [options] {
            if (options->of_tests) {
              print(policy_test::test_schema());
            } else {
              print(options->of_config ? server::config_schema() : policy::schema());
            }
            return ok;
          }};
}

}  // namespace weir::app
