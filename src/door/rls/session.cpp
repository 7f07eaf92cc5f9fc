#include "door/rls/session.h"

#include <algorithm>
#include <array>
#include <optional>

#include "door/rls/call.h"
#include "door/rls/reflection.h"
#include "wire/grpc/message.h"
#include "wire/grpc/timeout.h"

namespace weir::door {
namespace {

using wire::http2::Fault;
using wire::http2::Field;

enum class Method : std::uint8_t { should_rate_limit, health_check, health_watch, reflect, unknown };

Method method_of(std::string_view path) noexcept {
  if (path == "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit") return Method::should_rate_limit;
  if (path == "/grpc.health.v1.Health/Check") return Method::health_check;
  if (path == "/grpc.health.v1.Health/Watch") return Method::health_watch;
  if (path == "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo") return Method::reflect;
  if (path == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") return Method::reflect;
  return Method::unknown;
}

bool is_grpc(std::string_view content_type) noexcept {
  constexpr std::string_view grpc = "application/grpc";
  if (!content_type.starts_with(grpc)) return false;
  content_type.remove_prefix(grpc.size());
  if (content_type.starts_with("+proto")) content_type.remove_prefix(6);
  return content_type.empty() || content_type.front() == ';' || content_type.front() == ' ';
}

// What is not gRPC is answered as HTTP; none if it is.
std::optional<Header> refusal_of(const Exchange& exchange) noexcept {
  if (exchange.fault() == Fault::head_too_large) return Header{":status", "431"};
  if (exchange.fault() == Fault::malformed_field) return Header{":status", "400"};
  if (exchange.field(Field::method) != "POST") return Header{":status", "405"};
  if (!is_grpc(exchange.field(Field::content_type))) return Header{":status", "415"};
  return std::nullopt;
}

// What a proxy's client may have caused: it chooses what stands in descriptors, and in metadata that is made of them.
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

// Room for the longest message, whatever else is said of bodies.
wire::http2::Limits with_message(wire::http2::Limits limits) noexcept {
  limits.body_bytes += wire::grpc::message_prefix;
  limits.held_bytes = std::max(limits.held_bytes, limits.head_bytes + limits.body_bytes);
  return limits;
}

}  // namespace

std::unique_ptr<net::Session> RlsDoor::open(const net::Peer& /*peer*/, const net::Link& link) {
  return std::make_unique<Session>(*this, link);
}

RlsDoor::Session::Session(RlsDoor& door, const net::Link& link)
    : door_(door),
      link_(link),
      server_(with_message(door.options_.limits)),
      health_(server_, door.health_),
      longest_message_(door.options_.limits.body_bytes) {}

RlsDoor::Session::~Session() {
  for (auto& batch : waiting_) door_.rate_limits_.drop(std::move(batch));
}

std::size_t RlsDoor::Session::on_input(std::span<char> bytes, net::Output& out) {
  const bool alive = server_.receive(bytes);
  serve_stirred(out);
  write(out, alive);
  return bytes.size();
}

void RlsDoor::Session::serve_stirred(net::Output& out) {
  door_.rate_limits_.begin();
  for (Exchange* exchange : server_.stirred()) {
    if (exchange->gone()) continue;
    serve(*exchange);
    if (exchange->answered()) server_.write_answers(out.bytes());
  }
  if (auto batch = door_.rate_limits_.end(server_, link_, out.bytes())) await(std::move(batch));
  pause_if_due(out);
}

void RlsDoor::Session::await(std::unique_ptr<CallBatch> batch) {
  batch->for_each_exchange([this](Exchange& exchange) {
    server_.keep(exchange);
    exchange.set_note(awaited);
  });
  waiting_.push_back(std::move(batch));
}

// Where no more can wait, and where the peer waits for nothing but them.
void RlsDoor::Session::pause_if_due(net::Output& out) const {
  if (waiting_.size() >= most_waiting || (peer_done_ && !waiting_.empty())) out.pause();
}

void RlsDoor::Session::on_resume(net::Output& out) {
  std::erase_if(waiting_, [&](std::unique_ptr<CallBatch>& batch) {
    if (batch->inquiry.waiting()) return false;
    door_.rate_limits_.answer(*batch, server_, out.bytes());
    batch->for_each_exchange([this](Exchange& exchange) { server_.release(exchange); });
    door_.rate_limits_.drop(std::move(batch));
    return true;
  });
  pause_if_due(out);
  write(out);
}

void RlsDoor::Session::on_end(net::Output& out) {
  peer_done_ = true;
  pause_if_due(out);
}

void RlsDoor::Session::on_tick(net::Moment now, net::Output& out) {
  server_.expire(now, door_.options_.request_patience);
  health_.tell(watched);
  if (stage_ == Stage::announced) {
    stage_ = Stage::closed;
    end_streams();
    server_.refuse_more();
  }
  write(out);
}

void RlsDoor::Session::on_drain(net::Output& out) {
  if (stage_ != Stage::open) return;
  stage_ = Stage::announced;
  health_.tell(watched);
  server_.announce_end();
  write(out);
}

bool RlsDoor::Session::idle() const {
  return stage_ == Stage::closed && server_.open().empty();
}

void RlsDoor::Session::serve(Exchange& exchange) {
  if (exchange.note() == reflected) return reflect_on(exchange);
  if (exchange.answered() || exchange.note() == awaited) return;
  const Method method = method_of(exchange.field(Field::path));
  if (method == Method::should_rate_limit) return serve_rate_limit(exchange);
  const bool whole = exchange.complete() || exchange.fault() != Fault::none;
  if (!whole && method != Method::reflect) return;
  door_.calls_.raise();
  if (!accept(exchange)) return;
  if (method == Method::reflect) {
    exchange.set_note(reflected);
    return reflect_on(exchange);
  }
  if (method == Method::unknown) return finish(server_, exchange, Status::unimplemented, "no such method");
  if (exchange.fault() == Fault::body_too_large || server_.clogged()) {
    return finish(server_, exchange, Status::resource_exhausted, "this is more than is accepted here");
  }
  std::string_view message;
  if (!sole_message(server_, exchange, longest_message_, message)) return;
  if (method == Method::health_check) return health_.check(exchange, message);
  health_.watch(exchange, message, watched);
}

// Also one that is too long is read to its end: a caller that is answered earlier is told to stop, and may take that
// for a failure. How much can wait to be sent is bounded by the streams, each of which has one answer.
void RlsDoor::Session::serve_rate_limit(Exchange& exchange) {
  if (!exchange.complete()) return;
  door_.calls_.raise();
  if (const auto why = unread(exchange.fault())) return door_.rate_limits_.deny_unread(server_, exchange, *why);
  std::string_view message;
  if (accept(exchange) && sole_message(server_, exchange, longest_message_, message)) {
    return door_.rate_limits_.call(server_, exchange, message);
  }
  door_.rate_limits_.counts().failed.raise();
}

// What all calls have in common. False if it was refused.
bool RlsDoor::Session::accept(Exchange& exchange) {
  if (const auto refusal = refusal_of(exchange)) {
    server_.refuse(exchange, std::array{*refusal});
    return false;
  }
  const auto refuse = [&](Status status, std::string_view why) {
    finish(server_, exchange, status, why);
    return false;
  };
  if (!knows_token(exchange)) return refuse(Status::unauthenticated, "this door asks for a token, as x-weir-token");
  if (const std::string_view text = exchange.field(Field::grpc_timeout); !text.empty()) {
    const auto timeout = wire::grpc::parse_timeout(text);
    if (!timeout) return refuse(Status::internal, "grpc-timeout is no time");
    if (*timeout == Duration::zero()) return refuse(Status::deadline_exceeded, "the deadline has passed");
  }
  const std::string_view encoding = exchange.field(Field::grpc_encoding);
  if (!encoding.empty() && encoding != "identity") {
    return refuse(Status::unimplemented, "messages are taken uncompressed only");
  }
  return true;
}

bool RlsDoor::Session::knows_token(const Exchange& exchange) const noexcept {
  const Token& token = door_.options_.token;
  if (!token.is_set()) return true;
  if (exchange.field(Field::path).starts_with("/grpc.health.v1.Health/")) return true;
  return token.matches(exchange.field(Field::weir_token)) ||
         token.matches(bearer(exchange.field(Field::authorization)));
}

void RlsDoor::Session::reflect_on(Exchange& exchange) {
  using Kind = wire::grpc::MessageStep::Kind;
  for (;;) {
    if (exchange.fault() != Fault::none || server_.clogged()) {
      return finish(server_, exchange, Status::resource_exhausted, "this is more than is accepted here");
    }
    const auto step = wire::grpc::first_message(exchange.body(), longest_message_);
    if (step.kind == Kind::partial && !exchange.complete()) return;
    if (step.kind == Kind::partial && exchange.body().empty()) return finish(server_, exchange, Status::ok);
    if (step.kind != Kind::whole) return refuse_message(server_, exchange, step.kind);
    bool understood = true;
    say(server_, exchange,
        [&](std::string& out) { understood = reflect(ReflectionCatalogue::of_door(), step.message, out); });
    if (!understood) return finish(server_, exchange, Status::internal, "the message is no ServerReflectionRequest");
    exchange.take_body(step.consumed);
  }
}

// Calls that end with their connection.
std::uint64_t RlsDoor::Session::unanswered() const noexcept {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      server_.open(), [](const Exchange* exchange) { return !exchange->answered() && exchange->note() != awaited; }));
}

// Calls that would go on for as long as their client likes.
void RlsDoor::Session::end_streams() {
  for (Exchange* exchange : server_.open()) {
    if (exchange->answered()) finish(server_, *exchange, Status::unavailable, "the server is going away");
  }
}

void RlsDoor::Session::write(net::Output& out, bool alive) {
  const auto given_up = server_.given_up();
  door_.rate_limits_.counts().failed.raise(given_up - std::exchange(given_up_, given_up));
  server_.write(out.bytes());
  if (alive && !server_.over()) return;
  if (!out.closing()) door_.rate_limits_.counts().failed.raise(unanswered());
  out.close_after();
}

}  // namespace weir::door
