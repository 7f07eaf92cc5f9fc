#include "door/http/check_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>

#include <simdjson.h>

namespace weir::door {
namespace {

namespace ondemand = simdjson::ondemand;
using engine::Query;

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

tl::unexpected<Error> wrong(std::string_view field, std::string what) {
  return failure(std::string(field), std::move(what));
}

}  // namespace

class CheckReader::Parsing {
 public:
  Result<bool> read(std::string_view body, std::vector<Query>& queries, QuestionArena& arena);

 private:
  Result<void> read_query(ondemand::value value, Query& query);
  Result<void> read_field(Field field, ondemand::value value, Query& query);
  Result<void> read_text(std::string_view name, ondemand::value value, std::string_view& text);
  Result<void> read_headers(ondemand::value value, Query& query);
  Result<void> read_array(ondemand::document& document, std::vector<Query>& queries);

  ondemand::parser parser_;
  std::string padded_;  // a body, with the room behind it that the parser reads over
  std::vector<Header> headers_;
  QuestionArena* arena_ = nullptr;  // of the queries that are being read
};

Result<bool> CheckReader::Parsing::read(std::string_view body, std::vector<Query>& queries, QuestionArena& arena) {
  arena_ = &arena;
  padded_.assign(body);
  padded_.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::document document;
  auto type = parser_.iterate(padded_.data(), body.size(), padded_.capacity()).get(document)
                  ? simdjson::simdjson_result<ondemand::json_type>(simdjson::TAPE_ERROR)
                  : document.type();
  ondemand::json_type kind{};
  if (std::move(type).get(kind))
    return wrong("body", "is not JSON; send an object like {\"path\": \"/\", \"ip\": \"203.0.113.7\"}");
  const std::size_t before = queries.size();
  Result<void> done;
  if (kind == ondemand::json_type::array) {
    done = read_array(document, queries);
  } else {
    ondemand::value root;
    queries.emplace_back();
    done = document.get_value().get(root) ? Result<void>(wrong("body", "is not an object or an array of objects"))
                                          : read_query(root, queries.back());
  }
  if (done && !document.current_location().error()) done = wrong("body", "has something behind its end");
  if (!done) {
    queries.resize(before);
    return tl::unexpected(done.error());
  }
  return kind == ondemand::json_type::array;
}

Result<void> CheckReader::Parsing::read_array(ondemand::document& document, std::vector<Query>& queries) {
  ondemand::array array;
  if (document.get_array().get(array)) return wrong("body", "is not JSON");
  std::size_t count = 0;
  for (auto item : array) {
    ondemand::value value;
    if (std::move(item).get(value)) return wrong("body", "is not JSON");
    if (++count > most_queries)
      return wrong("body", "holds more than " + std::to_string(most_queries) + " queries; split it");
    queries.emplace_back();
    auto done = read_query(value, queries.back());
    if (!done) return wrong("query " + std::to_string(count) + ", " + done.error().where, done.error().what);
  }
  return {};
}

Result<void> CheckReader::Parsing::read_query(ondemand::value value, Query& query) {
  ondemand::object object;
  if (value.get_object().get(object)) return wrong("query", "is not an object");
  unsigned seen = 0;
  for (auto member : object) {
    ondemand::field field;
    std::string_view name;
    if (std::move(member).get(field) || field.unescaped_key().get(name)) return wrong("body", "is not JSON");
    const auto known = std::ranges::find(field_names, name);
    if (known == field_names.end()) {
      return wrong("field '" + std::string(name) + "'",
                   "is not known; there are method, path, ip, user, api_key, tier, headers, cost, max_wait and peek");
    }
    const auto index = static_cast<unsigned>(known - field_names.begin());
    if ((seen >> index & 1U) != 0) return wrong(*known, "is there twice");
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
      if (value.get_uint64().get(cost)) return wrong(name, "is not a whole number of at least 0");
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
        return wrong(name, "is not a number of seconds with at most six decimals");
      query.max_wait = *wait;
      return {};
    }
    case Field::peek:
      return value.get_bool().get(query.peek) ? Result<void>(wrong(name, "is neither true nor false")) : Result<void>();
  }
  return {};
}

Result<void> CheckReader::Parsing::read_text(std::string_view name, ondemand::value value, std::string_view& text) {
  std::string_view read;
  if (value.get_string().get(read)) return wrong(name, "is not a text");
  text = arena_->keep(read);
  return {};
}

Result<void> CheckReader::Parsing::read_headers(ondemand::value value, Query& query) {
  ondemand::object object;
  if (value.get_object().get(object)) return wrong("headers", "is not an object of texts");
  headers_.clear();
  for (auto member : object) {
    ondemand::field field;
    std::string_view name;
    std::string_view text;
    if (std::move(member).get(field) || field.unescaped_key().get(name)) return wrong("body", "is not JSON");
    const std::string_view kept = arena_->keep(name);
    if (field.value().get_string().get(text)) return wrong("headers", "'" + std::string(kept) + "' is not a text");
    if (headers_.size() == most_headers) return wrong("headers", "are more than " + std::to_string(most_headers));
    headers_.push_back({kept, arena_->keep(text)});
  }
  query.headers = arena_->keep(std::span<const Header>(headers_));
  return {};
}

CheckReader::CheckReader() : parsing_(std::make_unique<Parsing>()) {}
CheckReader::~CheckReader() = default;

Result<bool> CheckReader::read(std::string_view body, std::vector<Query>& queries, QuestionArena& arena) {
  return parsing_->read(body, queries, arena);
}

}  // namespace weir::door
