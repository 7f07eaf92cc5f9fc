#include "frontend/http/check_json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include <simdjson.h>

#include "answer/answer.h"
#include "base/ascii.h"
#include "base/number.h"
#include "core/receipts.h"
#include "frontend/query_fields.h"
#include "text/decimal.h"
#include "text/json.h"

namespace weir::frontend {
namespace {

namespace ondemand = simdjson::ondemand;

enum class Field {
  method,
  path,
  ip,
  user,
  api_key,
  tier,
  headers,
  cost,
  max_wait,
  peek,
  reserve,
  lease,
  id,
  receipt,
  actual
};

struct KnownField {
  std::string_view name;
  unsigned kinds;  // a bit for each kind that has the field
};

constexpr unsigned bit_of(CheckKind kind) noexcept {
  return 1U << static_cast<unsigned>(kind);
}
constexpr unsigned of_check = bit_of(CheckKind::check);
constexpr unsigned of_queries = of_check | bit_of(CheckKind::report);
constexpr unsigned of_settle = bit_of(CheckKind::settle);
constexpr unsigned of_extend = bit_of(CheckKind::extend);
constexpr unsigned of_receipts = of_settle | bit_of(CheckKind::release) | of_extend;

constexpr std::array<KnownField, 15> known_fields{{{"method", of_queries},
                                                   {"path", of_queries},
                                                   {"ip", of_queries},
                                                   {"user", of_queries},
                                                   {"api_key", of_queries},
                                                   {"tier", of_queries},
                                                   {"headers", of_queries},
                                                   {"cost", of_queries},
                                                   {"max_wait", of_check},
                                                   {"peek", of_check},
                                                   {"reserve", of_check},
                                                   {"lease", of_check | of_extend},
                                                   {"id", of_queries},
                                                   {"receipt", of_receipts},
                                                   {"actual", of_settle}}};

// Lists the names of the fields that the kind has: `a, b, c`.
std::string fields_of(CheckKind kind) {
  std::string text;
  for (const KnownField& field : known_fields) {
    if ((field.kinds & bit_of(kind)) == 0) continue;
    if (!text.empty()) text += ", ";
    text += field.name;
  }
  return text;
}

std::string_view example_of(CheckKind kind) noexcept {
  switch (kind) {
    case CheckKind::check:
      break;
    case CheckKind::report:
      return R"({"path": "/", "ip": "203.0.113.7", "cost": 7})";
    case CheckKind::settle:
      return R"({"receipt": "...", "actual": 7})";
    case CheckKind::release:
    case CheckKind::extend:
      return R"({"receipt": "..."})";
  }
  return R"({"path": "/", "ip": "203.0.113.7"})";
}

// Rejects missing fields and fields that cannot be combined.
Result<void> validate_together(CheckKind kind, const CheckItem& item) {
  const bool has_receipt = (bit_of(kind) & of_receipts) != 0;
  if (has_receipt && item.receipt.empty())
    return failure("receipt", "missing: send the receipt that the reservation returned");
  if (kind == CheckKind::settle && !item.actual) {
    return failure("actual", "missing: the cost to settle; to settle at zero use /v1/release");
  }
  if (kind == CheckKind::report && !item.query.cost) return failure("cost", "missing: the cost to report");
  if (kind != CheckKind::check) return {};
  if (item.reserves && item.query.peek)
    return failure("reserve", "cannot be combined with peek, which charges nothing");
  if (!item.reserves && item.lease > Duration::zero()) return failure("lease", "requires \"reserve\": true");
  if (!item.reserves && !item.id.empty()) return failure("id", "requires \"reserve\": true");
  return {};
}

// Parses seconds with up to six decimals, without rounding.
std::optional<Duration> parse_seconds(std::string_view text) noexcept {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view decimals = point == std::string_view::npos ? "" : text.substr(point + 1);
  const auto seconds = base::parse_number<std::uint32_t>(whole);
  if (!seconds) return {};
  if (point != std::string_view::npos && (decimals.empty() || decimals.size() > 6)) return {};
  Duration fraction{};
  Duration unit = std::chrono::milliseconds(100);
  for (const char c : decimals) {
    if (!base::is_digit(c)) return {};
    fraction += unit * (c - '0');
    unit /= 10;
  }
  return std::chrono::seconds(*seconds) + fraction;
}

Result<void> read_cost(std::string_view name, ondemand::value value, std::optional<Cost>& cost) {
  std::uint64_t read = 0;
  if (value.get_uint64().get(read)) return failure(std::string(name), "must be a whole number of at least 0");
  cost = Cost(read);
  return {};
}

Result<void> read_time(std::string_view name, ondemand::value value, Duration& time) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t'))
    token.remove_suffix(1);
  const auto seconds = parse_seconds(token);
  double checked = 0;
  if (!seconds || value.get_double().get(checked))
    return failure(std::string(name), "must be a number of seconds with at most six decimals");
  time = *seconds;
  return {};
}

Result<void> read_bool(std::string_view name, ondemand::value value, bool& truth) {
  return value.get_bool().get(truth) ? Result<void>(failure(std::string(name), "must be true or false"))
                                     : Result<void>();
}

}  // namespace

void append_seconds(std::string& out, Duration duration) {
  text::append_decimal(out, static_cast<std::uint64_t>(duration.count()), 6);
}

class CheckReader::Parsing {
 public:
  Result<bool> read(CheckKind kind, std::string_view body, std::vector<CheckItem>& items, BatchMemory& memory);

 private:
  Result<void> read_item(ondemand::value value, CheckItem& item);
  Result<void> read_field(Field field, ondemand::value value, CheckItem& item);
  Result<void> read_text(std::string_view name, ondemand::value value, std::string_view& text);
  Result<void> read_id(std::string_view name, ondemand::value value, std::string_view& id);
  Result<void> read_headers(ondemand::value value, Query& query);
  Result<void> read_array(ondemand::document& document, std::vector<CheckItem>& items);

  ondemand::parser parser_;
  std::string padded_;  // the body, followed by the padding that the parser requires
  std::vector<Header> headers_;
  CheckKind kind_ = CheckKind::check;  // the kind of the current body
  BatchMemory* memory_ = nullptr;      // the memory for the current body
};

Result<bool> CheckReader::Parsing::read(CheckKind kind, std::string_view body, std::vector<CheckItem>& items,
                                        BatchMemory& memory) {
  kind_ = kind;
  memory_ = &memory;
  padded_.assign(body);
  padded_.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::document document;
  auto type = parser_.iterate(padded_.data(), body.size(), padded_.capacity()).get(document)
                  ? simdjson::simdjson_result<ondemand::json_type>(simdjson::TAPE_ERROR)
                  : document.type();
  ondemand::json_type found{};
  if (std::move(type).get(found)) {
    return failure("body", "invalid JSON; send an object such as " + std::string(example_of(kind)));
  }
  Result<void> done;
  if (found == ondemand::json_type::array) {
    done = read_array(document, items);
  } else {
    ondemand::value root;
    items.emplace_back();
    done = document.get_value().get(root) ? Result<void>(failure("body", "must be an object or an array of objects"))
                                          : read_item(root, items.back());
  }
  if (done && !document.current_location().error()) done = failure("body", "unexpected text after the JSON value");
  if (!done) return tl::unexpected(done.error());
  return found == ondemand::json_type::array;
}

Result<void> CheckReader::Parsing::read_array(ondemand::document& document, std::vector<CheckItem>& items) {
  ondemand::array array;
  if (document.get_array().get(array)) return failure("body", "invalid JSON");
  std::size_t count = 0;
  for (auto item : array) {
    ondemand::value value;
    if (std::move(item).get(value)) return failure("body", "invalid JSON");
    if (++count > max_queries)
      return failure("body", "more than " + std::to_string(max_queries) + " queries; split it");
    items.emplace_back();
    auto done = read_item(value, items.back());
    if (!done) return failure("query " + std::to_string(count) + ", " + done.error().where, done.error().what);
  }
  return {};
}

Result<void> CheckReader::Parsing::read_item(ondemand::value value, CheckItem& item) {
  ondemand::object object;
  if (value.get_object().get(object)) return failure("query", "must be an object");
  unsigned seen = 0;
  for (auto member : object) {
    ondemand::field field;
    std::string_view name;
    if (std::move(member).get(field) || field.unescaped_key().get(name)) return failure("body", "invalid JSON");
    const auto known = std::ranges::find(known_fields, name, &KnownField::name);
    if (known == known_fields.end() || (known->kinds & bit_of(kind_)) == 0) {
      return failure(std::string(name), "unknown field; valid fields: " + fields_of(kind_));
    }
    const auto index = static_cast<unsigned>(known - known_fields.begin());
    if ((seen >> index & 1U) != 0) return failure(std::string(known->name), "duplicate field");
    seen |= 1U << index;
    if (auto done = read_field(static_cast<Field>(index), field.value(), item); !done) return done;
  }
  return validate_together(kind_, item);
}

Result<void> CheckReader::Parsing::read_field(Field field, ondemand::value value, CheckItem& item) {
  const std::string_view name = known_fields[static_cast<std::size_t>(field)].name;
  switch (field) {
    case Field::method:
      return read_text(name, value, item.query.method);
    case Field::path: {
      auto done = read_text(name, value, item.query.path);
      return done ? validate_path(item.query.path) : done;
    }
    case Field::ip: {
      auto done = read_text(name, value, item.query.ip);
      return done ? validate_address(item.query.ip) : done;
    }
    case Field::user:
      return read_text(name, value, item.query.user);
    case Field::api_key:
      return read_text(name, value, item.query.api_key);
    case Field::tier:
      return read_text(name, value, item.query.tier);
    case Field::headers:
      return read_headers(value, item.query);
    case Field::cost:
      return read_cost(name, value, item.query.cost);
    case Field::max_wait:
      return read_time(name, value, item.query.max_wait);
    case Field::peek:
      return read_bool(name, value, item.query.peek);
    case Field::reserve:
      return read_bool(name, value, item.reserves);
    case Field::lease: {
      auto done = read_time(name, value, item.lease);
      if (!done || (item.lease > Duration::zero() && item.lease <= core::Receipts::max_duration)) return done;
      return failure(std::string(name), "must be above 0 and at most 604800 seconds (one week)");
    }
    case Field::id:
      return read_id(name, value, item.id);
    case Field::receipt:
      return read_text(name, value, item.receipt);
    case Field::actual:
      return read_cost(name, value, item.actual);
  }
  return {};
}

Result<void> CheckReader::Parsing::read_text(std::string_view name, ondemand::value value, std::string_view& text) {
  std::string_view read;
  if (value.get_string().get(read)) return failure(std::string(name), "must be a string");
  text = memory_->keep(read);
  return {};
}

Result<void> CheckReader::Parsing::read_id(std::string_view name, ondemand::value value, std::string_view& id) {
  auto done = read_text(name, value, id);
  if (!done || (!id.empty() && id.size() <= max_id_length)) return done;
  return failure(std::string(name), "must be a string of 1 to " + std::to_string(max_id_length) + " bytes");
}

Result<void> CheckReader::Parsing::read_headers(ondemand::value value, Query& query) {
  ondemand::object object;
  if (value.get_object().get(object)) return failure("headers", "must be an object of strings");
  headers_.clear();
  for (auto member : object) {
    ondemand::field field;
    std::string_view name;
    std::string_view text;
    if (std::move(member).get(field) || field.unescaped_key().get(name)) return failure("body", "invalid JSON");
    const std::string_view kept = memory_->keep(name);
    if (field.value().get_string().get(text)) return failure("headers", "'" + std::string(kept) + "' must be a string");
    if (headers_.size() == max_headers) return failure("headers", "more than " + std::to_string(max_headers));
    headers_.push_back({kept, memory_->keep(text)});
  }
  query.headers = memory_->keep(std::span<const Header>(headers_));
  return {};
}

CheckReader::CheckReader() : parsing_(std::make_unique<Parsing>()) {}
CheckReader::~CheckReader() = default;

Result<bool> CheckReader::read(CheckKind kind, std::string_view body, std::vector<CheckItem>& items,
                               BatchMemory& memory) {
  return parsing_->read(kind, body, items, memory);
}

Result<bool> read_parameters(CheckKind kind, std::string_view parameters) {
  constexpr std::string_view denied = "denied=200";
  if (parameters.empty()) return false;
  if (kind == CheckKind::check && parameters == denied) return true;
  const std::string_view first = parameters.substr(0, parameters.find('&'));
  const std::string name(first.substr(0, first.find('=')));
  if (kind != CheckKind::check) return failure(name, "unknown parameter; this path takes none");
  if (first == denied) return failure("parameters", "only denied=200 is allowed");
  if (first.starts_with("denied=")) return failure(name, "invalid value; use denied=200 or omit it");
  return failure(name, "unknown parameter; valid parameters: denied=200");
}

void append_verdict(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict) {
  const bool has_limit = verdict.limit != engine::Verdict::no_limit;
  out += verdict.admitted ? R"({"admitted":true,"reason":")" : R"({"admitted":false,"reason":")";
  out += name_of(verdict.reason);
  out += R"(","limit":)";
  if (has_limit) {
    text::append_json_text(out, answer::limit_name(ruleset, verdict));
  } else {
    out += "null";
  }
  if (verdict.reason == engine::Reason::key_missing) {
    out += R"(,"missing":)";
    text::append_json_text(out, answer::missing_identity(ruleset, verdict));
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
}

void append_status(std::string& out, const policy::Ruleset& ruleset, const engine::Verdict& verdict) {
  out += R"(,"status":)";
  text::append_number(out, answer::status_of(verdict));
  if (verdict.admitted) return;
  out += R"(,"problem":)";
  answer::append_denial(out, ruleset, verdict);
}

}  // namespace weir::frontend
