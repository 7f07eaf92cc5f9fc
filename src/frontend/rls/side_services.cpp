#include "frontend/rls/side_services.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "wire/grpc.h"
#include "wire/protobuf.h"

namespace weir::frontend {
namespace {

using wire::protobuf::append_bytes;
using wire::protobuf::append_message;
using wire::protobuf::append_number;
using wire::protobuf::Reader;
using wire::protobuf::WireType;

// The fields of ServerReflectionRequest that select what to return. If several are present, the last one counts.
enum class RequestKind : std::uint8_t {
  nothing = 0,
  file = 3,
  symbol = 4,
  extension = 5,
  extension_numbers = 6,
  services = 7
};

struct ReflectionRequest {
  std::string_view host;
  RequestKind kind = RequestKind::nothing;
  std::string_view text;
};

[[nodiscard]] bool read(std::string_view message, ReflectionRequest& request) {
  Reader fields(message);
  while (fields.next()) {
    if (fields.is(1, WireType::bytes)) request.host = fields.text();
    for (const RequestKind kind :
         {RequestKind::file, RequestKind::symbol, RequestKind::extension_numbers, RequestKind::services}) {
      if (fields.is(static_cast<std::uint32_t>(kind), WireType::bytes)) {
        request.kind = kind;
        request.text = fields.text();
      }
    }
    if (fields.is(static_cast<std::uint32_t>(RequestKind::extension), WireType::bytes))
      request.kind = RequestKind::extension;
  }
  return fields.ok();
}

void append_error(std::string& out, wire::grpc::Status status, std::string_view text) {
  append_message(out, 7, [&] {
    append_number(out, 1, static_cast<std::uint64_t>(status));
    append_bytes(out, 2, text);
  });
}

void append_file(std::string& out, std::string_view file) {
  if (file.empty()) return append_error(out, wire::grpc::Status::not_found, "file or symbol not found");
  append_message(out, 4, [&] { append_bytes(out, 1, file); });
}

void append_services(std::string& out, const ReflectionCatalogue& catalogue) {
  append_message(out, 6, [&] {
    for (const std::string& service : catalogue.services()) {
      append_message(out, 1, [&] { append_bytes(out, 1, service); });
    }
  });
}

void append_extension_numbers(std::string& out, const ReflectionCatalogue& catalogue, std::string_view type) {
  if (!catalogue.declares_message(type)) {
    return append_error(out, wire::grpc::Status::not_found, "message not found");
  }
  append_message(out, 5, [&] { append_bytes(out, 1, type); });  // none has extensions
}

// Calls visit(bytes) for each length-delimited field with this number.
template <class Visit>
void for_each(std::string_view message, std::uint32_t number, const Visit& visit) {
  Reader fields(message);
  while (fields.next()) {
    if (fields.is(number, WireType::bytes)) visit(fields.bytes());
  }
}

// The name is field 1 of every descriptor.
std::string_view name_of(std::string_view message) {
  std::string_view name;
  for_each(message, 1, [&](std::string_view found) { name = found; });
  return name;
}

std::string within(const std::string& scope, std::string_view name) {
  std::string full = scope;
  if (!full.empty()) full += '.';
  full += name;
  return full;
}

constexpr std::uint64_t serving = 1;
constexpr std::uint64_t not_serving = 2;
constexpr std::uint64_t service_unknown = 3;

// Returns the service of a HealthCheckRequest; nothing if the message is invalid.
std::optional<std::string_view> service_of(std::string_view message) noexcept {
  std::string_view service;
  Reader fields(message);
  while (fields.next()) {
    if (fields.is(1, WireType::bytes)) service = fields.text();
  }
  if (!fields.ok()) return std::nullopt;
  return service;
}

bool is_known(std::string_view service) noexcept {
  return service.empty() || service == "ratelimit" || service == "envoy.service.ratelimit.v3.RateLimitService" ||
         service == "kuadrant.service.ratelimit.v1.RateLimitService" ||
         service == "envoy.service.rate_limit_quota.v3.RateLimitQuotaService";
}

constexpr std::string_view malformed = "invalid HealthCheckRequest message";

}  // namespace

void HealthService::check(Exchange& exchange, std::string_view message) {
  const auto service = service_of(message);
  if (!service) return finish(server_, exchange, Status::internal, malformed);
  if (!is_known(*service)) return finish(server_, exchange, Status::not_found, "unknown service");
  send_status(exchange, health_.serving() ? serving : not_serving);
  finish(server_, exchange, Status::ok);
}

void HealthService::watch(Exchange& exchange, std::string_view message, std::uint32_t watched) {
  const auto service = service_of(message);
  if (!service) return finish(server_, exchange, Status::internal, malformed);
  if (is_known(*service)) exchange.set_note(watched);
  send_status(exchange, !is_known(*service) ? service_unknown : health_.serving() ? serving : not_serving);
}

bool HealthService::notify(std::uint32_t watched) {
  const bool now = health_.serving();
  if (now == last_sent_) return false;
  last_sent_ = now;
  for (Exchange* exchange : server_.open()) {
    if (exchange->note() == watched) send_status(*exchange, now ? serving : not_serving);
  }
  return true;
}

void HealthService::send_status(Exchange& exchange, std::uint64_t status) {
  send_message(server_, exchange, [&](std::string& out) { wire::protobuf::append_number(out, 1, status); });
}

ReflectionCatalogue::ReflectionCatalogue(std::string_view descriptor_set) {
  for_each(descriptor_set, 1, [&](std::string_view file) { add_file(file); });
  std::ranges::sort(services_);
}

const ReflectionCatalogue& ReflectionCatalogue::own() {
  static const ReflectionCatalogue catalogue(descriptor_set());
  return catalogue;
}

std::string_view ReflectionCatalogue::file(std::string_view name) const noexcept {
  const auto found = std::ranges::find(files_, name, &File::name);
  return found == files_.end() ? std::string_view() : found->bytes;
}

std::string_view ReflectionCatalogue::file_declaring(std::string_view symbol) const noexcept {
  const auto found = std::ranges::find_if(
      files_, [&](const File& file) { return std::ranges::find(file.symbols, symbol) != file.symbols.end(); });
  return found == files_.end() ? std::string_view() : found->bytes;
}

bool ReflectionCatalogue::declares_message(std::string_view name) const noexcept {
  return std::ranges::any_of(
      files_, [&](const File& file) { return std::ranges::find(file.messages, name) != file.messages.end(); });
}

void ReflectionCatalogue::add_file(std::string_view bytes) {
  File& file = files_.emplace_back();
  file.name = name_of(bytes);
  file.bytes = bytes;
  std::string package;
  for_each(bytes, 2, [&](std::string_view name) { package = name; });
  for_each(bytes, 4, [&](std::string_view message) { add_message(file, package, message); });
  for_each(bytes, 5, [&](std::string_view set) { file.symbols.push_back(within(package, name_of(set))); });
  for_each(bytes, 6, [&](std::string_view service) { add_service(file, package, service); });
}

void ReflectionCatalogue::add_message(File& file, const std::string& scope, std::string_view bytes) {
  const std::string name = within(scope, name_of(bytes));
  file.symbols.push_back(name);
  file.messages.push_back(name);
  for_each(bytes, 3, [&](std::string_view nested) { add_message(file, name, nested); });
  for_each(bytes, 4, [&](std::string_view set) { file.symbols.push_back(within(name, name_of(set))); });
}

void ReflectionCatalogue::add_service(File& file, const std::string& scope, std::string_view bytes) {
  const std::string name = within(scope, name_of(bytes));
  file.symbols.push_back(name);
  services_.push_back(name);
  for_each(bytes, 2, [&](std::string_view method) { file.symbols.push_back(within(name, name_of(method))); });
}

bool reflect(const ReflectionCatalogue& catalogue, std::string_view request, std::string& out) {
  ReflectionRequest read_request;
  if (!read(request, read_request)) return false;
  if (!read_request.host.empty()) append_bytes(out, 1, read_request.host);
  append_bytes(out, 2, request);
  switch (read_request.kind) {
    case RequestKind::file:
      append_file(out, catalogue.file(read_request.text));
      break;
    case RequestKind::symbol:
      append_file(out, catalogue.file_declaring(read_request.text));
      break;
    case RequestKind::extension:
      append_file(out, {});
      break;
    case RequestKind::extension_numbers:
      append_extension_numbers(out, catalogue, read_request.text);
      break;
    case RequestKind::services:
      append_services(out, catalogue);
      break;
    case RequestKind::nothing:
      append_error(out, wire::grpc::Status::invalid_argument, "empty request");
      break;
  }
  return true;
}

}  // namespace weir::frontend
