// The session of AdminFrontend. admin_frontend.cpp has the routes and access control, report_handlers.cpp the reports
// and the stream, counter_handlers.cpp the requests that inspect or reset counters, override_handlers.cpp those about
// overrides and blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluation_batch.h"
#include "frontend/admin/admin_frontend.h"
#include "frontend/admin/backend.h"
#include "frontend/admin/counter_request.h"
#include "frontend/admin/feed.h"
#include "frontend/http_router.h"
#include "frontend/http_session.h"
#include "overrides/service.h"
#include "text/json_writer.h"
#include "weir/result.h"

namespace weir::frontend {

class AdminFrontend::Session final : public HttpSession {
 public:
  Session(AdminFrontend& frontend, const net::Link& link)
      : HttpSession(link, frontend.options_.limits, frontend.shared_), frontend_(frontend) {}
  ~Session() override { report_unanswered(); }

  // A request with its route, and the output for its response.
  struct Row;
  struct Exchange {
    const Row& row;
    const Request& request;
    const Target& target;
    std::vector<std::string> names;  // the values of the `{name}`s in the path
    RequestTraits traits;
    net::Output& out;
  };
  enum class Links : std::uint8_t { followed, refused };  // links from other origins
  struct Row : Route {
    void (*serve)(Session& session, const Exchange& exchange);
    Links links = Links::followed;
  };
  [[nodiscard]] static std::span<const Row> rows() noexcept;

 private:
  // A request for counters that the store has not answered yet.
  struct Pending {
    Ticket ticket{};
    RequestTraits traits{};
    std::unique_ptr<CounterRequest> request{};
    // Set only for a reset: the limit, or the domain with the entries of the descriptor.
    std::optional<std::string> resets{};
    std::vector<std::pair<std::string, std::string>> entries{};
  };

  void serve(std::span<const Request> requests, net::Output& out) override;
  void answer_done(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return frontend_.context_.now(); }
  void continue_stream(net::Output& out) override;

  // Defined in admin_frontend.cpp.
  void respond(const Request& request, net::Output& out);
  // Returns an error response, or nothing if the request is allowed.
  [[nodiscard]] std::optional<HttpAnswer> refuse(const Request& request, const Row& row) const;
  [[nodiscard]] std::optional<HttpAnswer> refuse_change(std::span<const Header> headers) const;
  [[nodiscard]] bool is_cross_origin(const Request& request, const Row& row) const noexcept;
  [[nodiscard]] const NamedToken* named_token(std::span<const Header> headers) const noexcept;
  void write_page(const Exchange& exchange);
  [[nodiscard]] static bool has(std::span<const Header> headers, const Token& token) noexcept {
    return has_token(headers, token, TokenFields::or_bearer);
  }

  // Defined in report_handlers.cpp.
  [[nodiscard]] HttpAnswer health(const Row& row) const;
  [[nodiscard]] HttpAnswer denied(const Target& target);
  [[nodiscard]] HttpAnswer history(const Target& target);
  [[nodiscard]] HttpAnswer notices(const Target& target);
  [[nodiscard]] HttpAnswer explain(const Request& request);
  [[nodiscard]] HttpAnswer answer_limits(const std::string& only, const LimitsReport& report);
  void start_reload(const Exchange& exchange);
  void start_limits(const Exchange& exchange);
  void start_stream(const Exchange& exchange);

  // Defined in override_handlers.cpp.
  void list_exceptions(const Exchange& exchange, overrides::Kind kind);
  void list_changes(const Exchange& exchange, overrides::Kind kind);
  void show_exception(const Exchange& exchange, overrides::Kind kind);
  void put_exception(const Exchange& exchange, overrides::Kind kind);
  void remove_exception(const Exchange& exchange, overrides::Kind kind);
  void start_exception(const Exchange& exchange, overrides::ServiceRequest request);

  // Defined in counter_handlers.cpp.
  void add_counter_request(const Exchange& exchange, Result<Pending> pending);
  [[nodiscard]] Result<Pending> lookup(const Exchange& exchange);
  [[nodiscard]] static Result<Pending> reset_by_body(const Exchange& exchange);
  [[nodiscard]] static Result<Pending> consumer(const Exchange& exchange);
  [[nodiscard]] static Result<Pending> descriptor(const Exchange& exchange);
  void report_reset(const Pending& pending, std::optional<unsigned> status);
  void report_unanswered();

  // Returns a callback that the backend may call on any thread. It answers on the loop's thread if the session still
  // exists.
  template <class Report, class AnswerTo>
  [[nodiscard]] auto later(const Exchange& exchange, const AnswerTo& answer_to) {
    return [this, link = link_, ticket = reply_later(), traits = exchange.traits, answer_to](Result<Report> report) {
      link.post([this, ticket, traits, answer_to, report = std::move(report)] {
        fulfil_with(ticket, traits, answer_to(report));
        link_.resume();
      });
    };
  }

  // Valid while the result of lock() exists.
  [[nodiscard]] const engine::Bindings& bindings() const { return frontend_.context_.evaluator().bindings(); }
  [[nodiscard]] auto lock() const { return frontend_.context_.evaluator().lock(); }

  void answer(const Exchange& exchange, HttpAnswer answer) {
    write_answer(reply(exchange.out), exchange.traits, std::move(answer));
  }
  void write_answer(std::string& out, const RequestTraits& traits, HttpAnswer answer);
  void fulfil_with(Ticket ticket, const RequestTraits& traits, HttpAnswer answer);

  AdminFrontend& frontend_;
  bool reloading_ = false;
  struct Stream {
    Stream(Feed& feed, const net::Link& link) : subscription(feed, [link] { link.post([link] { link.resume(); }); }) {}
    Feed::Subscription subscription;
    std::uint64_t seen = 0;
  };
  std::optional<Stream> stream_;
  std::vector<Pending> pending_;
  engine::EvaluationBatchPtr batch_;  // the batch of the pending requests; null: none
};

// Creates a response with a JSON object; `write` writes its fields.
template <class Write>
HttpAnswer object_of(const Write& write) {
  text::JsonWriter json;
  json.begin_object();
  write(json);
  json.end_object();
  return {200, json.take()};
}

}  // namespace weir::frontend
