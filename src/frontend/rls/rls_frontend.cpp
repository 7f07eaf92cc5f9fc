#include "frontend/rls/rls_frontend.h"

#include <algorithm>
#include <array>
#include <optional>

#include "frontend/rls/call.h"
#include "frontend/rls/side_services.h"
#include "wire/grpc.h"
#include "wire/http2/server.h"

namespace weir::frontend {
namespace {

using wire::http2::Fault;
using wire::http2::Field;

enum class Method : std::uint8_t { rate_limit, stream_quotas, health_check, health_watch, reflect, unknown };

struct GrpcMethod {
  std::string_view path;
  Method method = Method::unknown;
  RateLimitMethod rate_limit{};  // set for Method::rate_limit
};

constexpr std::array grpc_methods{
    GrpcMethod{"/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit", Method::rate_limit,
               RateLimitMethod::decide},
    GrpcMethod{"/kuadrant.service.ratelimit.v1.RateLimitService/CheckRateLimit", Method::rate_limit,
               RateLimitMethod::check},
    GrpcMethod{"/kuadrant.service.ratelimit.v1.RateLimitService/Report", Method::rate_limit, RateLimitMethod::report},
    GrpcMethod{"/envoy.service.rate_limit_quota.v3.RateLimitQuotaService/StreamRateLimitQuotas", Method::stream_quotas},
    GrpcMethod{"/grpc.health.v1.Health/Check", Method::health_check},
    GrpcMethod{"/grpc.health.v1.Health/Watch", Method::health_watch},
    GrpcMethod{"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Method::reflect},
    GrpcMethod{"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Method::reflect},
};

GrpcMethod method_of(std::string_view path) noexcept {
  const auto* const found = std::ranges::find(grpc_methods, path, &GrpcMethod::path);
  return found == grpc_methods.end() ? GrpcMethod{} : *found;
}

bool is_grpc(std::string_view content_type) noexcept {
  constexpr std::string_view grpc = "application/grpc";
  if (!content_type.starts_with(grpc)) return false;
  content_type.remove_prefix(grpc.size());
  if (content_type.starts_with("+proto")) content_type.remove_prefix(6);
  return content_type.empty() || content_type.front() == ';' || content_type.front() == ' ';
}

// Returns the HTTP status for a request that is not gRPC; nothing if it is.
std::optional<Header> refusal_of(const Exchange& exchange) noexcept {
  if (exchange.fault() == Fault::head_too_large) return Header{":status", "431"};
  if (exchange.fault() == Fault::malformed_field) return Header{":status", "400"};
  if (exchange.field(Field::method) != "POST") return Header{":status", "405"};
  if (!is_grpc(exchange.field(Field::content_type))) return Header{":status", "415"};
  return std::nullopt;
}

// Returns a reason to deny, for faults that a proxy's client can cause: descriptors and metadata contain its input.
std::optional<Unread> unread(Fault fault) noexcept {
  switch (fault) {
    case Fault::head_too_large:
      return Unread::head_too_long;
    case Fault::malformed_field:
      return Unread::malformed;
    case Fault::body_too_large:
      return Unread::message_too_long;
    case Fault::none:
      break;
  }
  return std::nullopt;
}

// Makes room for the longest message with its prefix.
wire::http2::Limits with_message(wire::http2::Limits limits) noexcept {
  limits.body_bytes += wire::grpc::message_prefix;
  limits.buffered_bytes = std::max(limits.buffered_bytes, limits.head_bytes + limits.body_bytes);
  return limits;
}

}  // namespace

class RlsFrontend::Session final : public net::Session {
 public:
  Session(RlsFrontend& frontend, const net::Link& link);
  ~Session() override;

  std::size_t on_input(std::span<char> bytes, net::Output& out) override;
  void on_resume(net::Output& out) override;
  void on_tick(net::SteadyTime now, net::Output& out) override;
  void on_end(net::Output& out) override;
  void on_drain(net::Output& out) override;
  [[nodiscard]] bool idle() const override;

 private:
  // Values of Exchange::note, for exchanges that continue after their first message.
  enum Note : std::uint32_t { nothing, watched, reflected, evaluated, has_quotas };
  // The shutdown is announced first. Requests that the client sent before it received the announcement are still
  // served.
  enum class Stage : std::uint8_t { open, announced, closed };

  // The maximum number of batches in flight. Later calls do not wait for them, since HTTP/2 allows responses in any
  // order.
  static constexpr std::size_t max_in_flight = 8;

  void serve_updated(net::Output& out);
  void submit_and_answer(std::unique_ptr<CallBatch> batch, net::Output& out);
  void keep_in_flight(std::unique_ptr<CallBatch> batch);
  void pause_if_due(net::Output& out) const;
  void serve(Exchange& exchange, CallBatch& batch);
  void serve_rate_limit(Exchange& exchange, RateLimitMethod method, CallBatch& batch);
  [[nodiscard]] bool accept(Exchange& exchange);
  [[nodiscard]] bool has_valid_token(const Exchange& exchange) const noexcept;
  void reflect_on(Exchange& exchange);
  void open_quotas(Exchange& exchange);
  void read_quotas(const Exchange& exchange);
  // Serves a turn of the quota calls.
  void serve_quotas();
  void request_turn();
  void end_quotas(std::unique_ptr<QuotaCall>& call);
  void end_streams();
  [[nodiscard]] std::uint64_t unanswered() const noexcept;
  void write(net::Output& out, bool alive = true);

  RlsFrontend& frontend_;
  net::Link link_;
  wire::http2::Server server_;
  HealthService health_;
  std::vector<std::unique_ptr<CallBatch>> in_flight_;    // their exchanges are kept
  std::vector<std::unique_ptr<QuotaCall>> quota_calls_;  // their exchanges are kept
  bool turn_requested_ = false;
  bool has_turn_ = false;
  bool peer_done_ = false;
  Stage stage_ = Stage::open;
  std::size_t max_message_size_;
  std::uint64_t given_up_ = 0;  // the part of Server::aborted() already counted
};

std::unique_ptr<net::Session> RlsFrontend::open(const net::Peer& /*peer*/, const net::Link& link) {
  return std::make_unique<Session>(*this, link);
}

RlsFrontend::Session::Session(RlsFrontend& frontend, const net::Link& link)
    : frontend_(frontend),
      link_(link),
      server_(with_message(frontend.options_.limits)),
      health_(server_, frontend.health_),
      max_message_size_(frontend.options_.limits.body_bytes) {}

RlsFrontend::Session::~Session() {
  for (auto& batch : in_flight_) frontend_.rate_limits_.release_batch(std::move(batch));
  for (auto& call : quota_calls_) frontend_.quotas_.close(std::move(call), link_.loop());
}

std::size_t RlsFrontend::Session::on_input(std::span<char> bytes, net::Output& out) {
  const bool alive = server_.receive(bytes);
  serve_updated(out);
  write(out, alive);
  return bytes.size();
}

void RlsFrontend::Session::serve_updated(net::Output& out) {
  RateLimitService& service = frontend_.rate_limits_;
  auto batch = service.new_batch();
  for (Exchange* exchange : server_.updated()) {
    if (exchange->closed()) continue;
    serve(*exchange, *batch);
    if (exchange->answered()) server_.write_answers(out.bytes());
    if (batch->calls.size() < service.max_batch_size()) continue;
    submit_and_answer(std::move(batch), out);
    batch = service.new_batch();
  }
  submit_and_answer(std::move(batch), out);
  pause_if_due(out);
}

void RlsFrontend::Session::submit_and_answer(std::unique_ptr<CallBatch> batch, net::Output& out) {
  RateLimitService& service = frontend_.rate_limits_;
  if (!batch->calls.empty()) submit(*batch->evaluation, link_);
  if (batch->evaluation->in_flight()) {
    keep_in_flight(std::move(batch));
  } else {
    service.answer(*batch, server_, out.bytes());
    service.release_batch(std::move(batch));
  }
}

void RlsFrontend::Session::keep_in_flight(std::unique_ptr<CallBatch> batch) {
  for (const CallBatch::Call& call : batch->calls) {
    server_.retain(*call.exchange);
    call.exchange->set_note(evaluated);
  }
  in_flight_.push_back(std::move(batch));
}

// Pauses input if the maximum is in flight, or if the peer has closed its side and only waits for these batches.
void RlsFrontend::Session::pause_if_due(net::Output& out) const {
  if (in_flight_.size() >= max_in_flight || (peer_done_ && !in_flight_.empty())) out.pause();
}

void RlsFrontend::Session::on_resume(net::Output& out) {
  std::erase_if(in_flight_, [&](std::unique_ptr<CallBatch>& batch) {
    if (batch->evaluation->in_flight()) return false;
    frontend_.rate_limits_.answer(*batch, server_, out.bytes());
    for (const CallBatch::Call& call : batch->calls) server_.release(*call.exchange);
    frontend_.rate_limits_.release_batch(std::move(batch));
    return true;
  });
  if (std::exchange(has_turn_, false)) serve_quotas();
  pause_if_due(out);
  write(out);
}

void RlsFrontend::Session::on_end(net::Output& out) {
  peer_done_ = true;
  pause_if_due(out);
}

void RlsFrontend::Session::on_tick(net::SteadyTime now, net::Output& out) {
  server_.expire(now, frontend_.options_.request_timeout);
  health_.notify(watched);
  for (const auto& call : quota_calls_) call->stream->begin_round();
  request_turn();
  if (stage_ == Stage::announced) {
    stage_ = Stage::closed;
    end_streams();
    server_.refuse_more();
  }
  write(out);
}

void RlsFrontend::Session::on_drain(net::Output& out) {
  if (stage_ != Stage::open) return;
  stage_ = Stage::announced;
  health_.notify(watched);
  server_.announce_end();
  write(out);
}

bool RlsFrontend::Session::idle() const {
  return stage_ == Stage::closed && server_.open().empty();
}

void RlsFrontend::Session::serve(Exchange& exchange, CallBatch& batch) {
  if (exchange.note() == reflected) return reflect_on(exchange);
  if (exchange.note() == has_quotas) return read_quotas(exchange);
  if (exchange.answered() || exchange.note() == evaluated) return;
  const auto [path, method, rate_limit] = method_of(exchange.field(Field::path));
  if (method == Method::rate_limit) return serve_rate_limit(exchange, rate_limit, batch);
  const bool whole = exchange.complete() || exchange.fault() != Fault::none;
  const bool is_stream = method == Method::reflect || method == Method::stream_quotas;
  if (!whole && !is_stream) return;
  frontend_.calls_.raise();
  if (!accept(exchange)) return;
  if (method == Method::stream_quotas) return open_quotas(exchange);
  if (method == Method::reflect) {
    exchange.set_note(reflected);
    return reflect_on(exchange);
  }
  if (method == Method::unknown) return finish(server_, exchange, Status::unimplemented, "unknown method");
  if (exchange.fault() == Fault::body_too_large || server_.clogged()) {
    return finish(server_, exchange, Status::resource_exhausted, "message too large or too many unread responses");
  }
  std::string_view message;
  if (!sole_message(server_, exchange, max_message_size_, message)) return;
  if (method == Method::health_check) return health_.check(exchange, message);
  health_.watch(exchange, message, watched);
}

// A request that is too long is also read to its end: an early answer tells the caller to stop sending, which it may
// treat as a failure. The number of streams bounds the unsent responses, since each stream has one.
void RlsFrontend::Session::serve_rate_limit(Exchange& exchange, RateLimitMethod method, CallBatch& batch) {
  if (!exchange.complete()) return;
  frontend_.calls_.raise();
  if (const auto why = unread(exchange.fault())) return frontend_.rate_limits_.deny_unread(server_, exchange, *why);
  std::string_view message;
  if (accept(exchange) && sole_message(server_, exchange, max_message_size_, message)) {
    return frontend_.rate_limits_.add(batch, server_, exchange, method, message);
  }
  frontend_.rate_limits_.counts().failed.raise();
}

// Validates what all calls have in common. Returns false if the call was rejected.
bool RlsFrontend::Session::accept(Exchange& exchange) {
  if (const auto refusal = refusal_of(exchange)) {
    server_.refuse(exchange, std::array{*refusal});
    return false;
  }
  const auto refuse = [&](Status status, std::string_view why) {
    finish(server_, exchange, status, why);
    return false;
  };
  if (!has_valid_token(exchange))
    return refuse(Status::unauthenticated, "this listener requires a token in x-weir-token");
  if (const std::string_view text = exchange.field(Field::grpc_timeout); !text.empty()) {
    const auto timeout = wire::grpc::parse_timeout(text);
    if (!timeout) return refuse(Status::internal, "invalid grpc-timeout");
    if (*timeout == Duration::zero()) return refuse(Status::deadline_exceeded, "the deadline has passed");
  }
  const std::string_view encoding = exchange.field(Field::grpc_encoding);
  if (!encoding.empty() && encoding != "identity") {
    return refuse(Status::unimplemented, "compressed messages are not supported");
  }
  return true;
}

bool RlsFrontend::Session::has_valid_token(const Exchange& exchange) const noexcept {
  const Token& token = frontend_.options_.token;
  if (!token.is_set()) return true;
  if (exchange.field(Field::path).starts_with("/grpc.health.v1.Health/")) return true;
  return token.matches(exchange.field(Field::weir_token)) ||
         token.matches(bearer(exchange.field(Field::authorization)));
}

void RlsFrontend::Session::reflect_on(Exchange& exchange) {
  using Kind = wire::grpc::MessageStep::Kind;
  for (;;) {
    if (exchange.fault() != Fault::none || server_.clogged()) {
      return finish(server_, exchange, Status::resource_exhausted, "message too large or too many unread responses");
    }
    const auto step = wire::grpc::first_message(exchange.body(), max_message_size_);
    if (step.kind == Kind::partial && !exchange.complete()) return;
    if (step.kind == Kind::partial && exchange.body().empty()) return finish(server_, exchange, Status::ok);
    if (step.kind != Kind::whole) return refuse_message(server_, exchange, step.kind);
    bool understood = true;
    send_message(server_, exchange,
                 [&](std::string& out) { understood = reflect(ReflectionCatalogue::own(), step.message, out); });
    if (!understood) return finish(server_, exchange, Status::internal, "invalid ServerReflectionRequest message");
    exchange.take_body(step.consumed);
  }
}

void RlsFrontend::Session::open_quotas(Exchange& exchange) {
  auto call = frontend_.quotas_.open(server_, exchange);
  if (!call) return;
  exchange.set_note(has_quotas);
  server_.retain(exchange);
  quota_calls_.push_back(std::move(call));
  read_quotas(exchange);
}

void RlsFrontend::Session::read_quotas(const Exchange& exchange) {
  const auto found = std::ranges::find(quota_calls_, &exchange, [](const auto& call) { return call->exchange; });
  if (found == quota_calls_.end()) return;
  if ((*found)->has_unread) return;  // continues in its next turn
  if (!frontend_.quotas_.receive(server_, **found, max_message_size_)) {
    end_quotas(*found);
    quota_calls_.erase(found);
    return;
  }
  if (QuotaService::has_more(**found)) request_turn();
}

// Calls that were not served come first in the next turn.
void RlsFrontend::Session::serve_quotas() {
  QuotaService& service = frontend_.quotas_;
  std::size_t max_visits = QuotaService::buckets_of_turn;
  std::size_t served = 0;
  for (; served < quota_calls_.size() && max_visits > 0; ++served) {
    std::unique_ptr<QuotaCall>& call = quota_calls_[served];
    bool is_open = !call->exchange->closed();
    if (is_open && call->has_unread) {
      is_open = service.receive(server_, *call, max_message_size_);
      max_visits = 0;
    } else if (is_open) {
      is_open = service.send_actions(server_, *call, max_visits);
    }
    if (!is_open) end_quotas(call);
  }
  std::ranges::rotate(quota_calls_, quota_calls_.begin() + static_cast<std::ptrdiff_t>(served));
  std::erase(quota_calls_, nullptr);
  const auto has_more = [](const auto& call) { return QuotaService::has_more(*call); };
  if (std::ranges::any_of(quota_calls_, has_more)) request_turn();
}

void RlsFrontend::Session::request_turn() {
  if (quota_calls_.empty() || turn_requested_) return;
  if (link_.loop() == nullptr) return serve_quotas();
  turn_requested_ = true;
  frontend_.quotas_.turns().add(*link_.loop(), [this, link = link_] {
    if (!link.alive()) return false;
    turn_requested_ = false;
    has_turn_ = true;
    link.resume();
    return false;
  });
}

void RlsFrontend::Session::end_quotas(std::unique_ptr<QuotaCall>& call) {
  server_.release(*call->exchange);
  frontend_.quotas_.close(std::move(call), link_.loop());
}

// The number of unanswered calls on a connection that ends.
std::uint64_t RlsFrontend::Session::unanswered() const noexcept {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      server_.open(), [](const Exchange* exchange) { return !exchange->answered() && exchange->note() != evaluated; }));
}

// Ends streaming calls, which otherwise last as long as their client likes.
void RlsFrontend::Session::end_streams() {
  for (Exchange* exchange : server_.open()) {
    if (exchange->answered()) finish(server_, *exchange, Status::unavailable, "the server is shutting down");
  }
  for (auto& call : quota_calls_) end_quotas(call);
  quota_calls_.clear();
}

void RlsFrontend::Session::write(net::Output& out, bool alive) {
  const auto given_up = server_.aborted();
  frontend_.rate_limits_.counts().failed.raise(given_up - std::exchange(given_up_, given_up));
  server_.write(out.bytes());
  if (alive && !server_.over()) return;
  if (!out.closing()) frontend_.rate_limits_.counts().failed.raise(unanswered());
  out.close_after();
}

}  // namespace weir::frontend
