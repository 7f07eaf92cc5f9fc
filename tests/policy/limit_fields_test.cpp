// Tests that a new field needs only a row in the table: rows added to a copy of it appear in the reader, its hints, the
// schema, the digest, the comparison and the reference page.
#include "policy/limit_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "policy/compile/canonical.h"
#include "policy/compile/compile.h"
#include "policy/read/openapi/reader.h"
#include "policy/read/policy_reader.h"
#include "policy/tools/diff_parts.h"
#include "policy/tools/starter.h"
#include "text/yaml/document.h"

namespace weir::policy {
namespace {

using Table = std::vector<LimitField>;

std::string listed(LimitFields fields, FieldScope scope) {
  return fmt::format("`{}`", fmt::join(names_of(fields, scope), "`, `"));
}

std::string replaced(std::string text, std::string_view mark, const std::string& with) {
  if (const std::size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), with);
  return text;
}

// The rows of docs/reference-policy.md that are about limits.
std::vector<std::string> reference_rows(LimitFields fields) {
  std::vector<std::string> rows;
  for (const LimitField& field : fields) {
    std::string values = replaced(field.type.values, tier_fields, listed(fields, FieldScope::tier));
    values = replaced(values, candidate_fields, listed(fields, FieldScope::candidate));
    const std::string fallback = field.fallback.empty() ? "" : fmt::format("{} ", field.fallback);
    if (values.empty()) continue;
    rows.push_back(fmt::format("| `limits[].{}` | {} | {}| {} |", field.path, values, fallback, field.meaning));
  }
  return rows;
}

// The result and the errors of reading a policy with a table.
struct Read {
  std::shared_ptr<const Ruleset> ruleset;
  std::vector<std::string> errors;
};

Read read_by(LimitFields fields, std::string_view text) {
  Problems problems("p");
  const auto root = text::parse_yaml(text, problems);
  if (!root) return {};
  const bool is_openapi = root->find("openapi") != nullptr;
  const auto spec = is_openapi ? openapi::read(*root, problems, fields) : read_policy(*root, problems, fields);
  Read read;
  if (spec) read.ruleset = compile(*spec, problems, fields);
  for (const Problem& problem : problems.sorted()) {
    if (problem.severity == Severity::error) read.errors.push_back(problem.message);
  }
  return read;
}

std::string gcra_with(const std::string& fields) {
  return "version: 1\nlimits:\n  - { name: a, consumer_key: user, algorithm: gcra, rate: 60/min" + fields + " }\n";
}

std::string_view trial_of(const CompiledLimit& limit) {
  return limit.mode == Mode::shadow ? "yes" : "no";
}

// A synonym of `mode: shadow`.
LimitField trial() {
  return {"trial",
          {R"("enum": ["yes", "no"])", "`yes`, `no`"},
          "`no`",
          "true if the limit is in shadow mode",
          {.read =
               [](const FieldInput& at) {
                 const auto chosen = at.map.one_of(at.name, {"yes", "no"});
                 if (chosen) at.limit.mode = {chosen->value == 0 ? Mode::shadow : Mode::enforce, chosen->at};
               },
           .digest = [](const CompiledLimit& limit, Canonical& to) { to.put(trial_of(limit)); },
           .compare =
               [](const diff_parts::LimitComparison& limits) {
                 const auto was = trial_of(limits.before.limit);
                 const auto is = trial_of(limits.after.limit);
                 if (was != is) limits.report(fmt::format("trial {} -> {}", was, is), Direction::neutral);
               }}};
}

// Replaces `queue`, a number that only a leaky bucket has.
LimitField places() {
  const auto read = [](text::MapReader& map, std::string_view name, NumbersSpec& numbers) {
    numbers.queue = map.whole(name);
  };
  const auto at = [](const NumbersSpec& numbers) {
    return numbers.queue ? std::optional(numbers.queue->at) : std::nullopt;
  };
  return {"places",
          {R"("type": "integer")", "whole number"},
          "",
          "`leaky_bucket`: how many may wait",
          {.scope = FieldScope::tier,
           .number = NumberField{set_of(PolicyAlgorithm::leaky_bucket), Spelling::either, read, at}}};
}

Table table_with(LimitField field) {
  const LimitFields all = limit_fields();
  Table table(all.begin(), all.end());
  if (field.path == "places") std::erase_if(table, [](const LimitField& each) { return each.path == "queue"; });
  table.push_back(std::move(field));
  return table;
}

using Errors = std::vector<std::string>;

TEST(ANewField, IsRead) {
  const Table table = table_with(trial());
  const Read with = read_by(table, gcra_with(", trial: yes"));
  EXPECT_EQ(with.errors, Errors{});
  ASSERT_NE(with.ruleset, nullptr);
  EXPECT_EQ(with.ruleset->limits.at(0).mode, Mode::shadow);
  EXPECT_EQ(read_by(limit_fields(), gcra_with(", trial: yes")).errors, Errors{"unknown field 'trial'"});
}

TEST(ANewField, IsReadInOpenApi) {
  constexpr auto document =
      "openapi: 3.1.0\npaths:\n  /a:\n    get:\n"
      "      x-rate-limit: { consumer_key: user, algorithm: gcra, rate: 1/s, trial: yes }\n";
  const Table table = table_with(trial());
  const Read with = read_by(table, document);
  EXPECT_EQ(with.errors, Errors{});
  ASSERT_NE(with.ruleset, nullptr);
  EXPECT_EQ(with.ruleset->limits.at(0).mode, Mode::shadow);
}

TEST(ANewField, IsSuggestedRefusedInACandidateAndSentToItsPlace) {
  const Table table = table_with(trial());
  EXPECT_EQ(read_by(table, gcra_with(", trail: yes")).errors, Errors{"unknown field 'trail', did you mean 'trial'?"});
  EXPECT_EQ(
      read_by(table, gcra_with(", candidate: { trial: yes, burst: 3 }")).errors,
      Errors{"trial is not allowed here: a candidate can change only the algorithm and the numbers of its limit"});
  EXPECT_EQ(read_by(table, gcra_with("") + "trial: yes\n").errors,
            Errors{"unknown field 'trial': it belongs to a limit: is its line indented too little?"});
}

TEST(ANewField, IsInTheSchema) {
  constexpr auto expected =
      R"("trial": { "description": "True if the limit is in shadow mode.", "default": "no", "enum": ["yes", "no"] })";
  EXPECT_NE(schema(table_with(trial())).find(expected), std::string::npos);
  EXPECT_EQ(schema().find("trial"), std::string::npos);
}

TEST(ANewField, IsInTheDigestAndTheComparison) {
  const Table table = table_with(trial());
  const auto without = read_by(table, gcra_with("")).ruleset;
  const auto with = read_by(table, gcra_with(", trial: yes")).ruleset;
  ASSERT_NE(without, nullptr);
  ASSERT_NE(with, nullptr);
  EXPECT_NE(digest(*with, table), digest(*with));
  EXPECT_EQ(with->digest, digest(*with, table));
  const auto changes = diff(*without, *with, table);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[1], (Change{"a", "trial no -> yes", Direction::neutral}));
  EXPECT_EQ(diff(*without, *with).size(), 1U);
}

TEST(ANewField, IsInTheReference) {
  EXPECT_EQ(reference_rows(table_with(trial())).back(),
            "| `limits[].trial` | `yes`, `no` | `no` | true if the limit is in shadow mode |");
}

TEST(ANewNumber, IsReadWhereverNumbersAre) {
  const Table table = table_with(places());
  const auto leaky = [](const std::string& fields) {
    return "version: 1\nlimits:\n  - { name: a, consumer_key: user, algorithm: leaky_bucket, rate: 60/min, " + fields +
           " }\n";
  };
  for (const auto* fields :
       {"places: 5", "places: 5, tier_overrides: { pro: { places: 9 } }", "places: 5, candidate: { places: 9 }"}) {
    EXPECT_EQ(read_by(table, leaky(fields)).errors, Errors{}) << fields;
  }
  EXPECT_EQ(read_by(table, gcra_with(", places: 5")).errors,
            Errors{"gcra has no places: write rate and burst, or refill_rate and capacity"});
}

TEST(ANewNumber, IsInTheSchemaAndTheReferenceOfTiersAndCandidates) {
  const Table table = table_with(places());
  const std::string text = schema(table);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(R"("places": { "$ref": "#/$defs/places" })", at)) != std::string::npos;
       ++at) {
    ++count;
  }
  EXPECT_EQ(count, 3U) << "in a limit, in a tier and in a candidate";
  const auto rows = reference_rows(table);
  const auto names_it = [](const std::string& row) { return row.find("`places`") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(rows, names_it), 2);
}

TEST(LimitFieldsTest, TableIsTheReferencePage) {
  const auto page = std::filesystem::path(WEIR_SOURCE_DIR) / "docs/reference-policy.md";
  constexpr std::string_view prefix = "| `limits[].";
  std::vector<std::string> before;
  std::vector<std::string> rows;
  std::vector<std::string> behind;
  std::ifstream file(page);
  for (std::string line; std::getline(file, line);) {
    const bool is_row = line.starts_with(prefix);
    (is_row ? rows : rows.empty() ? before : behind).push_back(line);
  }
  file.close();
  const auto expected = reference_rows(limit_fields());
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(page) << fmt::format("{}\n{}\n{}\n", fmt::join(before, "\n"), fmt::join(expected, "\n"),
                                       fmt::join(behind, "\n"));
  } else {
    EXPECT_EQ(rows, expected) << "UPDATE_GOLDEN=1 writes the page";
  }
}

TEST(LimitFieldsTest, AFieldComesOnceAndBehindTheOneThatItIsIn) {
  std::vector<std::string> seen;
  for (const LimitField& field : limit_fields()) {
    const std::string path(field.path);
    EXPECT_EQ(std::ranges::count(seen, path), 0) << path;
    if (!field.is_own()) {
      EXPECT_EQ(std::ranges::count(seen, path.substr(0, path.rfind('.'))), 1) << path;
    }
    EXPECT_FALSE(field.meaning.empty()) << path;
    seen.push_back(path);
  }
}

}  // namespace
}  // namespace weir::policy
