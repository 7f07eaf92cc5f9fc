#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/command_tree.h"
#include "app/commands.h"
#include "app/files.h"
#include "app/man_page.h"
#include "app/options.h"
#include "app/terminal.h"

namespace weir::app {
namespace {

constexpr auto man_footer =
    "PAGE is weir (the default), a command, or weir.yaml. Packages install these pages: man weir-serve.\n"
    "\n"
    "Examples:\n"
    "  weir man serve | man -l -\n"
    "  weir man --into pages\n"
    "\n"
    "Exit codes: 0 success, 1 the page does not exist or could not be written, 2 usage error.";

struct ManOptions {
  std::string page = "weir";
  std::string folder;
};

struct Page {
  std::string name;  // the name of the page: `weir-serve`
  std::string section;
  std::string text;
};

std::vector<Page> all_pages(const CommandTree& tree) {
  std::vector<Page> pages = {{"weir", "1", program_page(tree, WEIR_VERSION)}};
  for (const CommandTree& command : tree.commands) {
    pages.push_back({"weir-" + command.name, "1", command_page(command, WEIR_VERSION)});
  }
  pages.push_back({"weir.yaml", "5", config_page(WEIR_VERSION)});
  return pages;
}

int man(const ManOptions& options, const CommandTree& tree) {
  const std::vector<Page> pages = all_pages(tree);
  if (!options.folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.folder, error);
    if (error) return give_up(fmt::format("{}: cannot be created: {}", options.folder, error.message()));
    for (const Page& page : pages) {
      const auto written =
          write_file(fmt::format("{}/{}.{}", options.folder, page.name, page.section), page.text, Existing::replaced);
      if (!written) return give_up(written.error().message());
    }
    return ok;
  }
  for (const Page& page : pages) {
    if (page.name != options.page && page.name != "weir-" + options.page) continue;
    print(page.text);
    return ok;
  }
  return give_up(fmt::format("unknown page `{}`; pages: weir, weir.yaml and one per command", options.page));
}

}  // namespace

Command man_command(CLI::App& weir) {
  auto options = std::make_shared<ManOptions>();
  auto* line = weir.add_subcommand("man", "Print a man page of weir, a command or weir.yaml");
  line->footer(man_footer);
  add_text(*line, "PAGE", options->page, " ", "Page (default: weir)");
  add_text(*line, "--into", options->folder, "DIRECTORY", "Write all pages to this directory");
  return {line, [options, &weir] { return man(*options, read_command_tree(weir)); }};
}

}  // namespace weir::app
