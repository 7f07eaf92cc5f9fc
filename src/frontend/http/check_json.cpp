#include "frontend/http/check_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>

#include <simdjson.h>

#include "frontend/answer.h"
#include "text/decimal.h"
#include "text/json.h"

namespace weir::frontend {
namespace {

namespace ondemand = simdjson::ondemand;
using match::Query;

enum class Field { method, path, ip, user, api_key, tier, headers, cost, max_wait, peek };
constexpr std::array<std::string_view, 10> field_names{"method", "path",    "ip",   "user",     "api_key",
                                                       "tier",   "headers", "cost", "max_wait", "peek"};

// Seconds with up to six decimals, as they are written: exact.
std::optional<Duration> parse_seconds(std::string_view text) noexcept {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view decimals = point == std::string_view::npos ? "" : text.substr(point + 1);
  std::uint32_t seconds = 0;
  const auto [stop, error] = std::from_chars(whole.data(), whole.data() + whole.size(), seconds);
  if (error != std::errc{} || stop != whole.data() + whole.size()) return {};
  if (point != std::string_view::npos && (decimals.empty() || decimals.size() > 6)) return {};
  Duration fraction{};
  Duration unit = std::chrono::milliseconds(100);
  for (const char c : decimals) {
    if (c < '0' || c > '9') return {};
    fraction += unit * (c - '0');
    unit /= 10;
  }
  return std::chrono::seconds(seconds) + fraction;
}

// 12, 0.6, 0.000001
void append_seconds(std::string& out, Duration duration) {
  text::append_decimal(out, static_cast<std::uint64_t>(duration.count()), 6);
}

}  // namespace

class CheckReader::Parsing {
 public:
  Result<bool> read(std::string_view body, std::vector<Query>& queries, BatchMemory& memory);

 private:
  Result<void> read_query(ondemand::value value, Query& query);
  Result<void> read_field(Field field, ondemand::value value, Query& query);
  Result<void> read_text(std::string_view name, ondemand::value value, std::string_view& text);
  Result<void> read_headers(ondemand::value value, Query& query);
  Result<void> read_array(ondemand::document& document, std::vector<Query>& queries);

  ondemand::parser parser_;
  std::string padded_;  // a body, with the bytes behind it that the parser reads over
  std::vector<Header> headers_;
  BatchMemory* memory_ = nullptr;  // of the queries that are being read
};

Result<bool> CheckReader::Parsing::read(std::string_view body, std::vector<Query>& queries, BatchMemory& memory) {
  memory_ = &memory;
  padded_.assign(body);
  padded_.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::document document;
  auto type = parser_.iterate(padded_.data(), body.size(), padded_.capacity()).get(document)
                  ? simdjson::simdjson_result<ondemand::json_type>(simdjson::TAPE_ERROR)
                  : document.type();
  ondemand::json_type kind{};
  if (std::move(type).get(kind))
    return failure("body", "is not JSON; send an object like {\"path\": \"/\", \"ip\": \"203.0.113.7\"}");
  Result<void> done;
  if (kind == ondemand::json_type::array) {
    done = read_array(document, queries);
  } else {
    ondemand::value root;
    queries.emplace_back();
    done = document.get_value().get(root) ? Result<void>(failure("body", "is not an object or an array of objects"))
                                          : read_query(root, queries.back());
  }
  if (done && !document.current_location().error()) done = failure("body", "has something behind its end");
  if (!done) return tl::unexpected(done.error());
  return kind == ondemand::json_type::array;
}

Result<void> CheckReader::Parsing::read_array(ondemand::document& document, std::vector<Query>& queries) {
  ondemand::array array;
  if (document.get_array().get(array)) return failure("body", "is not JSON");
  std::size_t count = 0;
  for (auto item : array) {
    ondemand::value value;
    if (std::move(item).get(value)) return failure("body", "is not JSON");
    if (++count > most_queries)
      return failure("body", "holds more than " + std::to_string(most_queries) + " queries; split it");
    queries.emplace_back();
    auto done = read_query(value, queries.back());
    if (!done) return failure("query " + std::to_string(count) + ", " + done.error().where, done.error().what);
  }
  return {};
}

Result<void> CheckReader::Parsing::read_query(ondemand::value value, Query& query) {
  ondemand::object object;
  if (value.get_object().get(object)) return failure("query", "is not an object");
  unsigned seen = 0;
  for (auto member : object) {
    ondemand::field field;
    std::string_view name;
    if (std::move(member).get(field) || field.unescaped_key().get(name)) return failure("body", "is not JSON");
    const auto known = std::ranges::find(field_names, name);
    if (known == field_names.end()) {
      return failure("field '" + std::string(name) + "'",
                     "is not known; there are method, path, ip, user, api_key, tier, headers, cost, max_wait and peek");
    }
    const auto index = static_cast<unsigned>(known - field_names.begin());
    if ((seen >> index & 1U) != 0) return failure(std::string(*known), "is there twice");
    seen |= 1U << index;
    if (auto done = read_field(static_cast<Field>(index), field.value(), query); !done) return done;
  }
  return {};
}

Result<void> CheckReader::Parsing::read_field(Field field, ondemand::value value, Query& query) {
  const std::string_view name = field_names[static_cast<std::size_t>(field)];
  switch (field) {
    case Field::method:
      return read_text(name, value, query.method);
    case Field::path:
      return read_text(name, value, query.target);
    case Field::ip:
      return read_text(name, value, query.ip);
    case Field::user:
      return read_text(name, value, query.user);
    case Field::api_key:
      return read_text(name, value, query.api_key);
    case Field::tier:
      return read_text(name, value, query.tier);
    case Field::headers:
      return read_headers(value, query);
    case Field::cost: {
      std::uint64_t cost = 0;
      if (value.get_uint64().get(cost)) return failure(std::string(name), "is not a whole number of at least 0");
      query.cost = Cost(cost);
      return {};
    }
    case Field::max_wait: {
      std::string_view token = value.raw_json_token();
      while (!token.empty() &&
             (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t'))
        token.remove_suffix(1);
      const auto wait = parse_seconds(token);
      double checked = 0;
      if (!wait || value.get_double().get(checked))
        return failure(std::string(name), "is not a number of seconds with at most six decimals");
      query.max_wait = *wait;
      return {};
    }
    case Field::peek:
      return value.get_bool().get(query.peek) ? Result<void>(failure(std::string(name), "is neither true nor false"))
                                              : Result<void>();
  }
  return {};
}

Result<void> CheckReader::Parsing::read_text(std::string_view name, ondemand::value value, std::string_view& text) {
  std::string_view read;
  if (value.get_string().get(read)) return failure(std::string(name), "is not a text");
  text = memory_->keep(read);
  return {};
}

Result<void> CheckReader::Parsing::read_headers(ondemand::value value, Query& query) {
  ondemand::object object;
  if (value.get_object().get(object)) return failure("headers", "is not an object of texts");
  headers_.clear();
  for (auto member : object) {
    ondemand::field field;
    std::string_view name;
    std::string_view text;
    if (std::move(member).get(field) || field.unescaped_key().get(name)) return failure("body", "is not JSON");
    const std::string_view kept = memory_->keep(name);
    if (field.value().get_string().get(text)) return failure("headers", "'" + std::string(kept) + "' is not a text");
    if (headers_.size() == most_headers) return failure("headers", "are more than " + std::to_string(most_headers));
    headers_.push_back({kept, memory_->keep(text)});
  }
  query.headers = memory_->keep(std::span<const Header>(headers_));
  return {};
}

CheckReader::CheckReader() : parsing_(std::make_unique<Parsing>()) {}
CheckReader::~CheckReader() = default;

Result<bool> CheckReader::read(std::string_view body, std::vector<Query>& queries, BatchMemory& memory) {
  return parsing_->read(body, queries, memory);
}

void append_verdict(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict) {
  const bool has_limit = verdict.limit != engine::Verdict::no_limit;
  out += verdict.admitted ? R"({"admitted":true,"reason":")" : R"({"admitted":false,"reason":")";
  out += name_of(verdict.reason);
  out += R"(","limit":)";
  if (has_limit) {
    text::append_json_text(out, limit_name(ruleset, verdict));
  } else {
    out += "null";
  }
  if (verdict.reason == engine::Reason::key_missing) {
    out += R"(,"missing":)";
    text::append_json_text(out, missing_identity(ruleset, verdict));
  }
  if (has_limit && !engine::is_outright(verdict.reason)) {
    out += R"(,"quota":)";
    text::append_number(out, verdict.decision.limit);
    out += R"(,"remaining":)";
    text::append_number(out, verdict.decision.remaining);
  }
  out += R"(,"retry_after":)";
  if (verdict.retry_after) {
    append_seconds(out, *verdict.retry_after);
  } else {
    out += "null";
  }
  out += R"(,"reset_after":)";
  if (engine::is_outright(verdict.reason)) {
    out += "null";
  } else {
    append_seconds(out, verdict.decision.reset_after);
  }
  out += R"(,"delay":)";
  append_seconds(out, verdict.delay);
  out += R"(,"route":)";
  text::append_json_text(out, verdict.route);
  out += R"(,"tier":)";
  text::append_json_text(out, ruleset.tiers.names[verdict.tier]);
  out += '}';
}

}  // namespace weir::frontend
