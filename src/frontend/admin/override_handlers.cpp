#include <string>
#include <utility>

#include "base/number.h"
#include "frontend/admin/session.h"
#include "overrides/service.h"

namespace weir::frontend {
namespace {

using overrides::Answer;
using overrides::ServiceRequest;

constexpr std::size_t default_page = 100;
constexpr std::size_t max_page = 1'000;

// The author of changes that are made with the only token of a file without names.
constexpr std::string_view anonymous = "admin";

std::string_view value_of(std::span<const Header> headers, std::string_view name) {
  const Header* const header = find_header(headers, name);
  return header == nullptr ? std::string_view() : header->value;
}

Result<void> read_count(std::string_view text, ServiceRequest& request) {
  const auto count = base::parse_number<std::size_t>(text);
  if (!count || *count == 0 || *count > max_page) {
    return failure("count", "must be a whole number from 1 to " + std::to_string(max_page));
  }
  request.max = *count;
  return {};
}

Result<void> read_parameters(const Target& target, ServiceRequest& request) {
  const bool lists = request.action == ServiceRequest::Action::list;
  const bool is_block = request.kind == overrides::Kind::block;
  for (const auto& [name, value] : target.parameters) {
    if (name == "count") {
      if (const auto read = read_count(value, request); !read) return read;
    } else if (lists && name == "cursor") {
      request.cursor = value;
    } else if (lists && !is_block && name == "limit") {
      request.limit = value;
    } else if (lists && name == (is_block ? "identity" : "consumer")) {
      request.target = value;
    } else {
      return failure(
          name, std::string("unknown parameter; valid parameters: ") + (!lists     ? "count"
                                                                        : is_block ? "identity, cursor, count"
                                                                                   : "limit, consumer, cursor, count"));
    }
  }
  return {};
}

HttpAnswer http_answer(const Answer& answer) {
  if (answer.status != 200) return http_problem(answer.status, answer.text);
  return {200, answer.text + "\n"};
}

}  // namespace

// If-Match compares the version that the JSON of a record has.
void AdminFrontend::Session::start_exception(const Exchange& exchange, ServiceRequest request) {
  const NamedToken* const token = named_token(exchange.request.headers);
  request.by = token == nullptr ? anonymous : std::string_view(token->name);
  frontend_.backend_.overrides(request, later<Answer>(exchange, [](const Result<Answer>& answered) {
                                 return answered ? http_answer(*answered)
                                                 : http_problem(503, answered.error().message());
                               }));
}

void AdminFrontend::Session::list_exceptions(const Exchange& exchange, overrides::Kind kind) {
  ServiceRequest request{.action = ServiceRequest::Action::list, .kind = kind, .max = default_page};
  const auto read = read_parameters(exchange.target, request);
  if (!read) return answer(exchange, http_problem(400, read.error().message()));
  start_exception(exchange, std::move(request));
}

void AdminFrontend::Session::list_changes(const Exchange& exchange, overrides::Kind kind) {
  ServiceRequest request{.action = ServiceRequest::Action::history, .kind = kind, .max = default_page};
  const auto read = read_parameters(exchange.target, request);
  if (!read) return answer(exchange, http_problem(400, read.error().message()));
  start_exception(exchange, std::move(request));
}

void AdminFrontend::Session::show_exception(const Exchange& exchange, overrides::Kind kind) {
  start_exception(exchange, {.action = ServiceRequest::Action::show, .kind = kind, .id = exchange.names[0]});
}

void AdminFrontend::Session::put_exception(const Exchange& exchange, overrides::Kind kind) {
  start_exception(exchange, {.action = ServiceRequest::Action::put,
                             .kind = kind,
                             .body = std::string(exchange.request.body),
                             .if_match = std::string(value_of(exchange.request.headers, "if-match"))});
}

void AdminFrontend::Session::remove_exception(const Exchange& exchange, overrides::Kind kind) {
  start_exception(exchange, {.action = ServiceRequest::Action::remove,
                             .kind = kind,
                             .id = exchange.names[0],
                             .if_match = std::string(value_of(exchange.request.headers, "if-match"))});
}

}  // namespace weir::frontend
