#include "policy_test/scenario_run.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "answer/answer.h"
#include "engine/evaluation_batch.h"
#include "engine/receipt.h"
#include "policy_test/expectation.h"
#include "policy_test/request_text.h"
#include "policy_test/virtual_server.h"
#include "weir/query.h"

namespace weir::policy_test {
namespace {

using engine::EvaluationBatch;
using engine::ReceiptParts;
using engine::ReceiptRequest;

// Owns the texts of one repetition's query.
class NumberedQuery {
 public:
  NumberedQuery(const RequestSpec& spec, std::uint64_t n)
      : path_(numbered(spec.path, n)),
        ip_(numbered(spec.ip, n)),
        user_(numbered(spec.user, n)),
        api_key_(numbered(spec.api_key, n)) {
    values_.reserve(spec.headers.size());
    for (const auto& [name, value] : spec.headers) values_.push_back(numbered(value, n));
    for (std::size_t i = 0; i < spec.headers.size(); ++i) headers_.push_back({spec.headers[i].first, values_[i]});
    query_.method = spec.method;
    query_.path = path_;
    query_.ip = ip_;
    query_.headers = headers_;
    query_.user = user_;
    query_.api_key = api_key_;
    query_.tier = spec.tier;
    if (spec.cost) query_.cost = Cost{*spec.cost};
    if (spec.max_wait) query_.max_wait = *spec.max_wait;
  }
  NumberedQuery(const NumberedQuery&) = delete;
  NumberedQuery& operator=(const NumberedQuery&) = delete;

  [[nodiscard]] const Query& query() const noexcept { return query_; }

 private:
  std::string path_;
  std::string ip_;
  std::string user_;
  std::string api_key_;
  std::vector<std::string> values_;
  std::vector<Header> headers_;
  Query query_;
};

class ScenarioRun {
 public:
  ScenarioRun(const Scenario& scenario, VirtualServer& server, Coverage* coverage)
      : scenario_(scenario), server_(server), coverage_(coverage), now_(scenario.start) {}

  [[nodiscard]] ScenarioResult run() {
    for (const Step& step : scenario_.steps) {
      now_ = step.at ? scenario_.start + *step.at : now_ + step.after.value_or(Duration::zero());
      StepCheck check(step, server_.bindings().ruleset(), scenario_.start);
      run_step(step, check);
      result_.failures = check.take_failures();
      if (!result_.failures.empty()) break;
    }
    if (coverage_ != nullptr) coverage_->add(server_.totals());
    return std::move(result_);
  }

 private:
  void run_step(const Step& step, StepCheck& check) {
    if (step.action == Step::Action::store) return server_.set_store_available(step.store_is_available);
    if (!step.asks()) return use_receipt(step, check);
    for (std::uint64_t n = 1; n <= step.times; ++n) {
      if (n > 1) now_ += step.every;
      if (!ask(step, {n, now_}, check)) return;
    }
  }

  [[nodiscard]] bool ask(const Step& step, Repetition repetition, StepCheck& check) {
    const NumberedQuery numbered_query(step.request, repetition.number);
    const EvaluationBatch& batch = server_.evaluate(repetition.at, [&](EvaluationBatch& to) {
      if (step.action == Step::Action::request) return to.add(numbered_query.query());
      const auto action =
          step.action == Step::Action::reserve ? ReceiptRequest::Action::reserve : ReceiptRequest::Action::report;
      to.add(numbered_query.query(), {.action = action, .id = {1, ++last_id_}});
    });
    ++result_.requests;
    const engine::Verdict& verdict = batch.verdict(0);
    if (coverage_ != nullptr) coverage_->add(batch.matched(0), verdict);
    if (!step.receipt.empty()) {
      const ReceiptParts* const receipt = batch.receipt(0);
      receipts_[step.receipt] = receipt == nullptr ? ReceiptParts{} : *receipt;
    }
    return check.add(verdict, repetition);
  }

  void use_receipt(const Step& step, StepCheck& check) {
    const ReceiptParts& receipt = receipts_[step.receipt];
    if (receipt.parts.empty()) return check.add_result("unknown", {1, now_});  // the reserve was denied
    ReceiptRequest request{.action = ReceiptRequest::Action::release};
    if (step.action == Step::Action::extend) request.action = ReceiptRequest::Action::extend;
    if (step.action == Step::Action::settle) {
      request.action = ReceiptRequest::Action::settle;
      request.actual = Cost{step.actual.value_or(0)};
    }
    const EvaluationBatch& batch = server_.evaluate(now_, [&](EvaluationBatch& to) { to.add(receipt, request); });
    // The limits of a receipt agree, except one that was unavailable: the first that is not done is reported.
    std::string_view result = "unknown";
    for (const engine::ReceiptOutcome& outcome : batch.receipt_outcomes(0)) {
      result = answer::name_of(outcome.result);
      if (outcome.result != core::ReceiptResult::done) break;
    }
    check.add_result(result, {1, now_});
  }

  const Scenario& scenario_;
  VirtualServer& server_;
  Coverage* const coverage_;
  Instant now_;
  std::uint64_t last_id_ = 0;
  std::map<std::string, ReceiptParts> receipts_;
  ScenarioResult result_;
};

}  // namespace

Result<ScenarioResult> run_scenario(const Scenario& scenario, std::shared_ptr<const policy::Ruleset> ruleset,
                                    std::uint64_t nodes, Coverage* coverage) {
  const VirtualServerOptions options{.has_shared_store = scenario.uses_outage(),
                                     .nodes = static_cast<std::uint32_t>(nodes)};
  auto server = VirtualServer::create(std::move(ruleset), options);
  if (!server) return tl::unexpected(server.error());
  return ScenarioRun(scenario, **server, coverage).run();
}

}  // namespace weir::policy_test
