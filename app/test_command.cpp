#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/options.h"
#include "app/problem_report.h"
#include "app/terminal.h"
#include "policy_test/suite.h"
#include "policy_test/test_file.h"

namespace weir::app {
namespace {

namespace fs = std::filesystem;
using policy_test::SuiteReport;
using policy_test::TestFile;

enum class TestFormat { text, tap, junit };

constexpr std::array<Word<TestFormat>, 3> test_formats{
    {{"text", TestFormat::text}, {"tap", TestFormat::tap}, {"junit", TestFormat::junit}}};

constexpr auto test_footer =
    "Runs scenarios in virtual time, on the engine that serves decisions, and proves bounds from the limits\n"
    "of the policy. FILE is a test file, or a directory, of which all files that end in .test.yaml are run;\n"
    "the default is the current directory. policy.test.yaml tests policy.yaml beside it, unless it names\n"
    "another policy.\n"
    "\n"
    "The report lists the parts of each policy that no test touches. With --mutate, each number, algorithm,\n"
    "route, key and `missing` is changed, one at a time: a change that no test detects is listed with the\n"
    "test that is missing. --strict fails on both.\n"
    "\n"
    "Examples:\n"
    "  weir test policy.test.yaml\n"
    "  weir test --mutate --strict policies\n"
    "  weir test --policy policy-next.yaml policy.test.yaml\n"
    "  weir test --format junit policies > results.xml\n"
    "\n"
    "Exit codes: 0 all tests passed, 1 a test failed or a file does not load (with --strict: or something is\n"
    "untested), 2 usage error.";

struct TestOptions {
  std::vector<std::string> files;
  std::vector<std::string> policies;
  std::string filter;
  bool mutates = false;
  bool is_strict = false;
  bool watches = false;
  TestFormat format = TestFormat::text;
};

// The outcome of one run, and the files that it has read.
struct TestRun {
  std::vector<SuiteReport> reports;
  std::vector<std::string> inputs;
  bool is_complete = true;  // false: a file did not load, and the reason was printed
};

std::vector<std::string> test_files_in(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator each(directory, error), end; !error && each != end; each.increment(error)) {
    if (each->path().filename().string().ends_with(policy_test::test_suffix)) files.push_back(each->path().string());
  }
  std::ranges::sort(files);
  return files;
}

// Replaces directories by their test files.
std::vector<std::string> expanded(const std::vector<std::string>& paths, TestRun& run) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    run.inputs.push_back(path);  // changes if a file is added
    const auto found = test_files_in(path);
    if (found.empty()) {
      run.is_complete = false;
      (void)give_up(fmt::format("{}: no file that ends in {}; `weir init` writes one", path, policy_test::test_suffix));
    }
    for (const std::string& each : found) files.push_back(each.starts_with("./") ? each.substr(2) : each);
  }
  return files;
}

// The policies of a test file, or those of --policy.
std::vector<std::string> policies_of(const TestFile& file, const TestOptions& options) {
  if (!options.policies.empty()) return options.policies;
  std::vector<std::string> policies;
  for (const auto& policy : file.policies) {
    policies.push_back((fs::path(file.path).parent_path() / policy.value).string());
  }
  return policies;
}

void run_file(const std::string& path, const TestOptions& options, TestRun& run) {
  run.inputs.push_back(path);
  const auto loaded = policy_test::load_tests(path);
  if (!loaded.file) {
    run.is_complete = false;
    return print_errors(loaded.problems);
  }
  for (const std::string& policy : policies_of(*loaded.file, options)) {
    run.inputs.push_back(policy);
    const auto ruleset = load_policy(policy, {.nodes = loaded.file->nodes});
    if (!ruleset) {
      run.is_complete = false;
      continue;
    }
    auto report =
        policy_test::run_suite(*loaded.file, policy, ruleset, {.filter = options.filter, .mutate = options.mutates});
    if (!report) {
      run.is_complete = false;
      (void)give_up(policy + ": " + report.error().message());
      continue;
    }
    run.reports.push_back(*std::move(report));
  }
}

// Whether colours are used does not change during a run.
const Paint& stdout_paint() {
  static const Paint paint(stdout);
  return paint;
}

policy_test::ReportStyle style_of_stdout() {
  return {printable, [](std::string_view text) { return stdout_paint().green(text); },
          [](std::string_view text) { return stdout_paint().red(text); },
          [](std::string_view text) { return stdout_paint().faint(text); }};
}

void print_run(const TestRun& run, TestFormat format) {
  if (format == TestFormat::tap) return print(policy_test::report_tap(run.reports));
  if (format == TestFormat::junit) return print(policy_test::report_junit(run.reports));
  std::string text;
  for (const SuiteReport& report : run.reports) text += policy_test::report_text(report, style_of_stdout()) + "\n";
  if (!run.reports.empty()) text += policy_test::summary_text(run.reports, style_of_stdout());
  print(text);
}

bool has_untested_parts(const TestRun& run) noexcept {
  return std::ranges::any_of(run.reports, [](const SuiteReport& report) {
    return !report.coverage.untouched.empty() || (report.mutation && !report.mutation->survivors.empty());
  });
}

TestRun run_tests(const TestOptions& options) {
  TestRun run;
  for (const std::string& file : expanded(options.files, run)) run_file(file, options, run);
  print_run(run, options.format);
  return run;
}

int exit_code(const TestRun& run, bool is_strict) noexcept {
  const bool any_failed = std::ranges::any_of(run.reports, [](const SuiteReport& each) { return each.failed() > 0; });
  return !run.is_complete || any_failed || (is_strict && has_untested_parts(run)) ? failed : ok;
}

// The times and sizes of files, to notice changes. A file that is missing for a moment, as in a rename, is unchanged.
class FileWatch {
 public:
  explicit FileWatch(std::vector<std::string> files) : files_(std::move(files)) { stamps_ = read({}); }

  void wait_for_change() {
    constexpr auto interval = std::chrono::milliseconds{200};
    while (true) {
      std::this_thread::sleep_for(interval);
      auto now = read(stamps_);
      if (now != stamps_) return;
    }
  }

 private:
  struct FileStamp {
    fs::file_time_type written{};
    std::uintmax_t size = 0;

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
  };

  [[nodiscard]] std::vector<FileStamp> read(const std::vector<FileStamp>& before) const {
    std::vector<FileStamp> stamps;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      std::error_code missing;
      std::error_code of_size;  // a directory has no size
      const auto written = fs::last_write_time(files_[i], missing);
      const std::uintmax_t size = fs::file_size(files_[i], of_size);
      stamps.push_back(missing && i < before.size() ? before[i] : FileStamp{written, of_size ? 0 : size});
    }
    return stamps;
  }

  std::vector<std::string> files_;
  std::vector<FileStamp> stamps_;
};

// Ends with the process.
[[noreturn]] void watch(const TestOptions& options) {
  while (true) {
    const TestRun run = run_tests(options);
    print("watching for changes; stop with Ctrl-C\n\n");
    (void)std::fflush(stdout);
    FileWatch(run.inputs).wait_for_change();
  }
}

int test(TestOptions& options) {
  if (options.files.empty()) options.files = {"."};
  if (options.watches) watch(options);
  return exit_code(run_tests(options), options.is_strict);
}

}  // namespace

Command test_command(CLI::App& weir) {
  auto options = std::make_shared<TestOptions>();
  auto* line = weir.add_subcommand("test", "Run the tests of policies");
  line->footer(test_footer);
  add_files(*line, "FILE", options->files, "Test files, or directories with *.test.yaml");
  add_texts(*line, "--policy", options->policies, "FILE",
            "Test this policy instead of the file's own; may be repeated");
  add_text(*line, "--filter", options->filter, "TEXT", "Run only tests whose name contains this text");
  line->add_flag("--mutate", options->mutates, "Also run the tests against changed policies");
  line->add_flag("--strict", options->is_strict, "Fail if a part of a policy is untested");
  line->add_flag("--watch", options->watches, "Run again whenever a test file or a policy changes");
  add_choice(*line, "--format", options->format, test_formats, "Output format (default: text)");
  return {line, [options] { return test(*options); }};
}

}  // namespace weir::app
