// Tests the output of `weir init`.
#include "policy/tools/starter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "policy/load.h"
#include "tests/policy/mistake_files.h"

namespace weir::policy {
namespace {

std::string problems_of(std::string_view policy) {
  return problem_lines(load_text(policy, "policy.yaml").problems);
}

std::string starter_of(std::string_view openapi) {
  Problems problems("openapi.yaml");
  const auto text = starter_policy(openapi, problems);
  EXPECT_EQ(problem_lines(problems.sorted()), "");
  return text.value_or("");
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST(Starter, LoadsAsItStands) {
  EXPECT_EQ(problems_of(starter_policy()), "");
}

TEST(Example, LoadsAsThePolicyLanguageIsWritten) {
  const Loaded example = load_path(source_folder() / "examples" / "policy.yaml");
  EXPECT_TRUE(example.ruleset);
}

TEST(Starter, FitsAScreenOfAnEditor) {
  const std::string text = starter_policy();
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = rest.find('\n');
    ASSERT_NE(length, std::string_view::npos);
    EXPECT_LE(length, 120U) << rest.substr(0, length);
    rest.remove_prefix(length + 1);
  }
}

TEST(Starter, IsMadeFromTheExample) {
  const std::string text = starter_of(text_of_file(source_folder() / "examples" / "openapi.yaml"));
  EXPECT_EQ(problems_of(text), "");
  EXPECT_TRUE(has(text, "#   POST /v2/exports  (startExport)\n"));
  EXPECT_TRUE(has(text, "# No operation looks like a sign-in."));
  EXPECT_TRUE(has(text, "  #     - 'POST /v2/exports'\n"));
}

TEST(Starter, LimitsSignInsByAddress) {
  const std::string text = starter_of(R"(
openapi: 3.0.3
paths:
  /users/{id}/password: { post: {} }
  /sign-in: { post: {}, get: {} }
  /go: { post: { operationId: userLogin } }
  /authors: { post: {} }
  /sessions: { get: {} }
)");
  EXPECT_EQ(problems_of(text), "");
  EXPECT_TRUE(has(text,
                  "  - name: sign-in-by-ip\n"
                  "    routes:\n"
                  "      - 'POST /users/{id}/password'\n"
                  "      - 'POST /sign-in'\n"
                  "      - 'POST /go'\n"
                  "    when: anonymous\n"));
}

TEST(Starter, IsNotFooledByNames) {
  const std::string text = starter_of(R"(
openapi: 3.0.3
paths:
  "/it's/login": { post: { operationId: "a\nlimits: []" } }
  "/{a \u0085b}/x": { get: {} }
  "/{x'y}/login": { post: { operationId: "\u2028- b" } }
  "/{n\u00e4me}/x/login": { post: {} }
)");
  EXPECT_EQ(problems_of(text), "");
  EXPECT_TRUE(has(text, "      - 'POST /it''s/login'\n"));
  EXPECT_TRUE(has(text, "(a?limits: [])"));
  EXPECT_TRUE(has(text, "      - 'POST /*/x/login'\n"));
}

TEST(Starter, ListsABoundedNumberOfOperations) {
  std::string openapi = "openapi: 3.0.3\npaths:\n";
  for (int i = 0; i < 201; ++i) openapi += "  /" + std::to_string(i) + ": { get: {} }\n";
  const std::string text = starter_of(openapi);
  EXPECT_TRUE(has(text, "#   GET /199\n#   ... and 1 more\n"));
  EXPECT_EQ(problems_of(text), "");
}

TEST(Starter, SaysWhatIsWrongWithTheDocument) {
  Problems problems("openapi.yaml");
  EXPECT_FALSE(starter_policy("swagger: '2.0'\n", problems));
  EXPECT_EQ(problem_lines(problems.sorted()), "1:10: OpenAPI 2 (swagger) is not supported: convert it to 3.0 or 3.1");
}

}  // namespace
}  // namespace weir::policy
