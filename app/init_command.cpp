#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/terminal.h"
#include "policy/tools/starter.h"
#include "server/config.h"
#include "text/yaml/document.h"
#include "text/yaml/problem.h"

namespace weir::app {
namespace {

constexpr auto init_footer =
    "Writes a commented policy that is valid as it is, for you to edit. With --from, it lists the\n"
    "operations of an OpenAPI document and limits those that look like a sign-in.\n"
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

int init(const InitOptions& options) {
  const auto text = options.openapi.empty() ? policy::starter_policy() : policy_from(options.openapi);
  if (!text) return failed;
  if (options.file == "-") {
    print(*text);
    return ok;
  }
  const auto written = write_file(options.file, *text, options.is_forced ? Existing::replaced : Existing::rejected);
  if (!written) return give_up(written.error().message());
  fmt::print("Wrote {}. Validate it: weir lint {}\n", printable(options.file), printable(options.file));
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
  auto of_config = std::make_shared<bool>(false);
  auto* line = weir.add_subcommand("schema", "Print the JSON Schema of policy.yaml or weir.yaml");
  line->footer(schema_footer);
  line->add_flag("--config", *of_config, "Print the schema of weir.yaml");
  return {line, [of_config] {
            print(*of_config ? server::config_schema() : policy::schema());
            return ok;
          }};
}

}  // namespace weir::app
