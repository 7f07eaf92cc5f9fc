// The session of HttpFrontend. http_frontend.cpp reads requests into tasks, responses.cpp writes their responses.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/evaluation_batch.h"
#include "frontend/batch_memory.h"
#include "frontend/http/check_json.h"
#include "frontend/http/http_frontend.h"
#include "frontend/http_router.h"
#include "frontend/http_session.h"
#include "policy/ruleset.h"
#include "wire/http1/response_writer.h"

namespace weir::frontend {

// Describes how to answer a request after the batch is evaluated.
struct HttpFrontend::Task {
  using Write = void (Session::*)(const Task&, net::Output&);
  using Append = void (Session::*)(const Task&, std::size_t i);

  Write write;
  Append append = nullptr;  // writes one element of an array
  bool sends_problem_field = false;
  bool denied_as_200 = false;
  std::size_t first = 0;  // index in the evaluation batch or, for receipts, in Batch::receipts
  std::size_t count = 0;
  std::unique_ptr<HttpAnswer> fixed{};  // a response that needs no evaluation
  RequestTraits traits{};
};

// The requests of one read, until their responses. They may refer to the input, which does not move while the session
// is paused; everything else that they refer to is in `memory`.
struct HttpFrontend::Batch {
  engine::EvaluationBatchPtr evaluation;
  std::vector<Task> tasks;                           // one per request
  std::vector<std::optional<std::size_t>> receipts;  // indexes in the evaluation; none: invalid receipt
  std::size_t may_delay = 0;                         // queries whose responses may be delayed
  BatchMemory memory;
};

class HttpFrontend::Session final : public HttpSession {
 public:
  Session(HttpFrontend& frontend, const net::Peer& peer, const net::Link& link)
      : HttpSession(link, frontend.options_.limits, frontend.shared_),
        frontend_(frontend),
        ip_(peer.unix_socket ? "127.0.0.1" : peer.address) {}
  ~Session() override { release_batch(); }

 private:
  void serve(std::span<const Request> requests, net::Output& out) override;
  [[nodiscard]] bool in_flight() const override { return batch_ != nullptr; }
  void answer_done(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return frontend_.context_.now(); }
  [[nodiscard]] std::size_t queries_in(const Request& request) const override;

  void release_batch() noexcept;
  [[nodiscard]] const policy::Ruleset& ruleset() const noexcept { return batch_->evaluation->bindings().ruleset(); }
  [[nodiscard]] const engine::Verdict& verdict(std::size_t i) const noexcept { return batch_->evaluation->verdict(i); }

  struct Row : Route {
    Task (Session::*serve)(const Request&, const Row&);
    CheckKind kind = CheckKind::check;  // used by check()
  };
  [[nodiscard]] static std::span<const Row> rows() noexcept;
  friend class HttpFrontend;

  // Defined in http_frontend.cpp: these read a request and add its queries to the batch.
  [[nodiscard]] Task task_for(const Request& request);
  [[nodiscard]] Task auth(const Request& request, const Row& row);
  [[nodiscard]] Task check(const Request& request, const Row& row);
  [[nodiscard]] Task descriptors(const Request& request, const Row& row);
  [[nodiscard]] Task health(const Request& request, const Row& row);
  [[nodiscard]] Task document(const Request& request, const Row& row);
  [[nodiscard]] Task add_queries(CheckKind kind, bool many);
  [[nodiscard]] Task add_receipts(CheckKind kind, bool many);
  [[nodiscard]] static std::optional<HttpAnswer> refuse_body(const Request& request);
  [[nodiscard]] static Task fixed(HttpAnswer answer);

  // Defined in responses.cpp: these write the response of a task.
  void answer_auth(const Task& task, net::Output& out);
  void answer_check(const Task& task, net::Output& out);
  void answer_array(const Task& task, net::Output& out);
  void answer_report(const Task& task, net::Output& out);
  void answer_receipt(const Task& task, net::Output& out);
  void answer_descriptors(const Task& task, net::Output& out);
  void answer_fixed(const Task& task, net::Output& out) { write(reply(out), task.traits, *task.fixed); }
  void add_problem_field(wire::http1::ResponseWriter& response, const Task& task) const;
  void append_check(const Task& task, std::size_t i);
  void append_report(const Task& task, std::size_t i);
  void append_receipt(const Task& task, std::size_t i);
  void finish_json(unsigned status, const Task& task, std::string& out);

  HttpFrontend& frontend_;
  const std::string ip_;
  std::unique_ptr<Batch> batch_;  // the current batch; null: none
};

}  // namespace weir::frontend
