#include "door/rls/health_service.h"

#include <cstdint>
#include <optional>
#include <string>

#include "wire/protobuf/reader.h"
#include "wire/protobuf/writer.h"

namespace weir::door {
namespace {

constexpr std::uint64_t serving = 1;
constexpr std::uint64_t not_serving = 2;
constexpr std::uint64_t service_unknown = 3;

// HealthCheckRequest; empty if it is none.
std::optional<std::string_view> service_of(std::string_view message) noexcept {
  std::string_view service;
  wire::protobuf::Reader fields(message);
  while (fields.next()) {
    if (fields.is(1, wire::protobuf::WireType::bytes)) service = fields.text();
  }
  if (!fields.ok()) return std::nullopt;
  return service;
}

bool is_known(std::string_view service) noexcept {
  return service.empty() || service == "ratelimit" || service == "envoy.service.ratelimit.v3.RateLimitService";
}

constexpr std::string_view malformed = "the message is no HealthCheckRequest";

}  // namespace

void HealthService::check(Exchange& exchange, std::string_view message) {
  const auto service = service_of(message);
  if (!service) return finish(server_, exchange, Status::internal, malformed);
  if (!is_known(*service)) return finish(server_, exchange, Status::not_found, "no such service");
  say_status(exchange, health_.serving() ? serving : not_serving);
  finish(server_, exchange, Status::ok);
}

void HealthService::watch(Exchange& exchange, std::string_view message, std::uint32_t watched) {
  const auto service = service_of(message);
  if (!service) return finish(server_, exchange, Status::internal, malformed);
  if (is_known(*service)) exchange.set_note(watched);
  say_status(exchange, !is_known(*service) ? service_unknown : health_.serving() ? serving : not_serving);
}

bool HealthService::tell(std::uint32_t watched) {
  const bool now = health_.serving();
  if (now == told_) return false;
  told_ = now;
  for (Exchange* exchange : server_.open()) {
    if (exchange->note() == watched) say_status(*exchange, now ? serving : not_serving);
  }
  return true;
}

void HealthService::say_status(Exchange& exchange, std::uint64_t status) {
  say(server_, exchange, [&](std::string& out) { wire::protobuf::append_number(out, 1, status); });
}

}  // namespace weir::door
