#include "observe/metrics.h"

#include <sys/wait.h>

#include <cstdio>

#include "tests/observe/recorder_fixture.h"

namespace weir::observe {
namespace {

constexpr auto all_kinds = R"(
version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: login
    routes: ["POST /login"]
    consumer_key: user
    missing: share
    algorithm: fixed_window
    rate: 3/h
    candidate: { rate: 2/h }
  - { name: quiet, consumer_key: ip, algorithm: gcra, rate: 1/h, mode: shadow }
)";

// The exit code and the output of a program for this input.
std::string told_by(const std::string& program, const Folder& folder, const std::string& input) {
  folder.write("input", input);
  std::FILE* const pipe = popen((program + " <" + folder.file("input") + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "cannot be started";
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said.push_back(static_cast<char>(c));
  return std::to_string(WEXITSTATUS(pclose(pipe))) + said;
}

class MetricsTest : public RecorderTest {
 protected:
  std::string page() const {
    const Recorder* const recorder = &recorder_;
    const std::array ended{ListenerFigures::Ended{"accepted", 7}, ListenerFigures::Ended{"refused", 1}};
    const std::array unread{ListenerFigures::Unread{"head_too_long", 3}};
    const std::array listeners{ListenerFigures{"http", 2, 40, ended, 5, unread},
                               ListenerFigures{"resp", 0, 0, ended, {}, {}}};
    MetricsPage page;
    append_metrics(page, {.engine = *engine_,
                          .recorders = {&recorder, 1},
                          .listeners = listeners,
                          .reloads = {.applied = 2, .rejected = 1, .last_rejected = true, .applied_at = now_},
                          .log_lines_dropped = 9,
                          .version = "0.2.0",
                          .started = now_,
                          .now = now_});
    return page.take();
  }
  void send_some() {
    load(all_kinds);
    for (int i = 0; i < 5; ++i) passes(Request::to("POST /login").by("alice"));
    passes(Request::to("POST /login").in_tier("gold").with("X-Plan", "gold"));
    passes(Request::to("GET /").from("203.0.113.2"));
  }
};

TEST_F(MetricsTest, PageHasWhatHappened) {
  send_some();
  const std::string text = page();
  for (const char* line : {
           R"(weir_decisions_total{limit="login",route="POST /login",outcome="admitted"} 4)",
           R"(weir_decisions_total{limit="login",route="POST /login",outcome="denied"} 2)",
           R"(weir_decisions_total{limit="quiet",route="POST /login",outcome="shadow_denied"} )",
           R"(weir_shared_key_decisions_total{limit="login",route="POST /login"} 1)",
           R"(weir_candidate_decisions_total{limit="login",route="POST /login",divergence="newly_denied"} 1)",
           R"(weir_candidate_diverging_consumers{limit="login",divergence="newly_denied"} 1)",
           R"(weir_consumers{limit="login"} 2)",
           R"(weir_unevaluated_total{listener="http"} 5)",
           R"(weir_denied_unread_total{listener="http",reason="head_too_long"} 3)",
           R"(weir_top_denied{limit="login"} 2)",
           R"(weir_headroom_ratio_bucket{limit="login",le="0"} 3)",
           R"(weir_headroom_ratio_count{limit="login"} 6)",
           R"(weir_decision_duration_seconds_count 7)",
           R"(weir_batch_size_bucket{le="1"} 7)",
           R"(weir_reloads_total{outcome="applied"} 2)",
           R"(weir_reloads_total{outcome="rejected"} 1)",
           R"(weir_last_reload_rejected 1)",
           R"(weir_policy_applied_timestamp_seconds 1767614400)",
           R"(weir_connections{listener="http"} 2)",
           R"(weir_connections_total{listener="http",outcome="refused"} 1)",
           R"(weir_requests_total{listener="http"} 40)",
           R"(weir_log_dropped_total 9)",
           R"(weir_table_bytes{limit="login",purpose="live"} )",
           R"(weir_table_budget_bytes{limit="login",purpose="live"} )",
           R"(weir_table_entries{limit="login",purpose="live"} 2)",
           R"(weir_table_entries{limit="login",purpose="candidate"} 2)",
           R"(weir_table_overflowed_total{limit="quiet",purpose="live"} 0)",
           R"(weir_build_info{version="0.2.0"} 1)",
           R"(weir_uncovered_total 0)",
           R"(weir_shadow_only_total 1)",
           R"(process_resident_memory_bytes )",
       }) {
    EXPECT_NE(text.find("\n" + std::string(line)), std::string::npos) << line << "\n" << text;
  }
}

TEST_F(MetricsTest, ClientIsInNoLabel) {
  send_some();
  const std::string text = page();
  for (const std::string& secret :
       {std::string("alice"), names_.hash_of("alice"), std::string("203.0.113"), std::string("gold")}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
}

TEST_F(MetricsTest, PromtoolFindsNothingToSay) {
  send_some();
  EXPECT_EQ(told_by("promtool check metrics", folder_, page()), "0") << "script/setup installs promtool";
}

TEST_F(MetricsTest, PageBeforeTheFirstRequestIsCleanToo) {
  load(all_kinds);
  EXPECT_EQ(told_by("promtool check metrics", folder_, page()), "0") << "script/setup installs promtool";
}

}  // namespace
}  // namespace weir::observe
