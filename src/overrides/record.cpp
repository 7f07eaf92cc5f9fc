#include "overrides/record.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

#include <simdjson.h>

#include "base/ascii.h"
#include "text/date.h"
#include "text/decimal.h"
#include "text/yaml/scalar.h"

namespace weir::overrides {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view override_fields =
    "id, limit, consumer, numbers, factor, unlimited, banned, add, until, for, permanent, reason";
constexpr std::string_view block_fields = "id, identity, routes, until, for, permanent, reason";
// Fields of a listed record, which may be sent back unchanged.
constexpr std::array<std::string_view, 5> read_only{"words", "by", "created_at", "version", "inactive"};

// The fields of a request in the order of reading, before they are validated together.
struct Draft {
  Record record;
  Instant now{};
  std::optional<Instant> until{};
  std::optional<Duration> lasts{};
  bool permanent = false;
};

Result<std::string> text_of(std::string_view field, dom::element value, std::size_t max_length) {
  std::string_view text;
  if (value.get_string().get(text)) return failure(std::string(field), "must be a string");
  if (text.empty()) return failure(std::string(field), "must not be empty");
  if (text.size() > max_length) {
    return failure(std::string(field), "too long: at most " + std::to_string(max_length) + " bytes");
  }
  if (!std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; })) {
    return failure(std::string(field), "contains control characters; remove them");
  }
  return std::string(text);
}

Result<void> read_text(std::string_view field, dom::element value, std::size_t max_length, std::string& to) {
  auto text = text_of(field, value, max_length);
  if (!text) return tl::unexpected(text.error());
  to = std::move(*text);
  return {};
}

Result<void> read_truth(std::string_view field, dom::element value, bool& to) {
  if (value.get_bool().get(to)) return failure(std::string(field), "must be true or false");
  return {};
}

// Returns a string as it is, and a number as written.
std::optional<std::string> scalar_text(dom::element value) {
  std::string_view text;
  if (!value.get_string().get(text)) return std::string(text);
  if (value.is_number()) return simdjson::minify(value);
  return std::nullopt;
}

Result<void> read_id(dom::element value, std::string& to) {
  const auto is_plain = [](char c) { return base::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; };
  auto id = text_of("id", value, max_id_length);
  if (!id) return tl::unexpected(id.error());
  if (!std::ranges::all_of(*id, is_plain)) return failure("id", "must have letters, digits, '-', '_' and '.' only");
  if (*id == "history") return failure("id", "'history' is a path of the API: write another id");
  to = std::move(*id);
  return {};
}

Result<void> read_numbers(dom::element value, Terms& terms) {
  dom::object object;
  if (value.get_object().get(object)) {
    return failure("numbers", "must be an object like {\"rate\": \"500/min\", \"burst\": 50}");
  }
  for (const auto& [name, number] : object) {
    auto text = scalar_text(number);
    if (!text) return failure("numbers." + std::string(name), "must be a number or a string");
    terms.numbers.emplace_back(name, std::move(*text));
  }
  if (terms.numbers.empty())
    return failure("numbers", "sets no number: write at least one, like \"rate\": \"500/min\"");
  std::ranges::sort(terms.numbers);
  return {};
}

// A decimal number with at most three places, which JSON writes exactly.
Result<void> read_factor(dom::element value, std::uint64_t& to) {
  constexpr std::uint64_t max_whole = 1'000;
  const auto invalid = failure("factor", "must be a number above 0 and at most 1000, with at most 3 decimal places");
  const auto text = value.is_number() ? scalar_text(value) : std::nullopt;
  if (!text) return invalid;
  const std::size_t point = text->find('.');
  std::string places = point == std::string::npos ? "" : text->substr(point + 1);
  while (places.ends_with('0')) places.pop_back();
  if (places.size() > 3) return invalid;
  places.resize(6, '0');
  const auto whole = text::parse_whole(text->substr(0, point), {.max = max_whole});
  if (!whole || !std::ranges::all_of(places, base::is_digit)) return invalid;
  to = *whole * whole_factor + std::stoull(places);
  return to == 0 || to > max_whole * whole_factor ? invalid : Result<void>();
}

Result<void> read_add(dom::element value, std::uint64_t& to) {
  if (value.get_uint64().get(to) || to == 0) return failure("add", "must be a whole number of at least 1");
  return {};
}

Result<void> read_routes(dom::element value, std::vector<std::string>& to) {
  dom::array array;
  if (value.get_array().get(array)) return failure("routes", "must be an array of routes like \"POST /login\"");
  for (const dom::element each : array) {
    auto route = text_of("routes", each, max_target_length);
    if (!route) return tl::unexpected(route.error());
    to.push_back(std::move(*route));
  }
  if (to.empty()) return failure("routes", "empty: list routes, or leave it out to block every route");
  if (to.size() > max_routes) return failure("routes", "too many: at most " + std::to_string(max_routes));
  return {};
}

Result<void> read_until(dom::element value, std::optional<Instant>& to) {
  std::string_view text;
  const auto invalid = failure("until", "must be a time like \"2026-01-31T00:00:00Z\"");
  if (value.get_string().get(text)) return invalid;
  const auto stamp = text::parse_rfc3339(text);
  if (!stamp) return invalid;
  to = stamp->at;
  return {};
}

Result<void> read_lasts(dom::element value, std::optional<Duration>& to) {
  std::string_view text;
  if (value.get_string().get(text)) return failure("for", "must be a duration like \"24h\"");
  const auto duration = text::parse_duration(text);
  if (!duration) return failure("for", duration.error().message());
  to = *duration;
  return {};
}

Result<void> read_field(std::string_view name, dom::element value, Draft& draft) {
  Record& record = draft.record;
  const bool is_block = record.kind == Kind::block;
  if (name == "id") return read_id(value, record.id);
  if (name == "reason") return read_text(name, value, max_reason_length, record.reason);
  if (name == "until") return value.is_null() ? Result<void>() : read_until(value, draft.until);
  if (name == "for") return read_lasts(value, draft.lasts);
  if (name == "permanent") return read_truth(name, value, draft.permanent);
  if (std::ranges::find(read_only, name) != read_only.end()) return {};
  if (is_block) {
    if (name == "identity") return read_text(name, value, max_target_length, record.target);
    if (name == "routes") return read_routes(value, record.routes);
  } else {
    if (name == "limit") return read_text(name, value, text::max_name_length, record.limit);
    if (name == "consumer") return read_text(name, value, max_target_length, record.target);
    if (name == "numbers") return read_numbers(value, record.terms);
    if (name == "factor") return read_factor(value, record.terms.factor);
    if (name == "unlimited") return read_truth(name, value, record.terms.unlimited);
    if (name == "banned") return read_truth(name, value, record.terms.banned);
    if (name == "add") return read_add(value, record.terms.add);
  }
  return failure(std::string(name),
                 "unknown field; valid fields: " + std::string(is_block ? block_fields : override_fields));
}

Result<void> check_terms(const Terms& terms) {
  const int given = static_cast<int>(!terms.numbers.empty()) + static_cast<int>(terms.factor > 0) +
                    static_cast<int>(terms.unlimited) + static_cast<int>(terms.banned) +
                    static_cast<int>(terms.add > 0);
  if (given == 1) return {};
  return failure("override", std::string(given == 0 ? "changes nothing" : "contradicts itself") +
                                 ": write exactly one of numbers, factor, unlimited, banned and add");
}

// Rounds up to whole seconds, so that the time reads the same when it is sent back.
Instant whole_second(Instant at) {
  return Instant(std::chrono::ceil<std::chrono::seconds>(at.time_since_epoch()));
}

Result<void> set_expiry(Draft& draft) {
  Record& record = draft.record;
  const int given = static_cast<int>(draft.until.has_value()) + static_cast<int>(draft.lasts.has_value()) +
                    static_cast<int>(draft.permanent);
  if (record.is_grant()) {
    // `until` of a grant that was listed is accepted, and replaced by the end of the current window.
    if (!draft.lasts && !draft.permanent) return {};
    return failure("add", "ends with the current window: leave out for and permanent");
  }
  if (given == 0) return failure("until", "missing: write until, for, or permanent: true");
  if (given > 1) return failure("until", "write only one of until, for and permanent");
  if (draft.permanent) return {};
  record.expires_at = draft.until ? *draft.until : whole_second(draft.now + *draft.lasts);
  if (record.expires_at <= draft.now) return failure("until", "is in the past: write a time to come");
  return {};
}

}  // namespace

std::string_view name_of(Kind kind) noexcept {
  return kind == Kind::block ? "block" : "override";
}

std::string_view name_of(Change::Action action) noexcept {
  constexpr std::array<std::string_view, 3> names{"set", "remove", "expire"};
  return names[static_cast<std::size_t>(action)];
}

Result<Record> read_request(Kind kind, std::string_view body, Instant now) {
  dom::parser parser;
  dom::object object;
  const simdjson::padded_string padded(body);
  if (parser.parse(padded).get_object().get(object)) return failure("body", "must be a JSON object");
  Draft draft{.record = {.kind = kind}, .now = now};
  std::set<std::string_view> seen;
  for (const auto& [name, value] : object) {
    if (!seen.insert(name).second) return failure(std::string(name), "duplicate field");
    if (const auto read = read_field(name, value, draft); !read) return tl::unexpected(read.error());
  }
  const Record& record = draft.record;
  if (kind == Kind::limit_override) {
    if (record.limit.empty()) return failure("limit", "missing: the name of the limit");
    if (record.target.empty()) return failure("consumer", "missing: a consumer such as user=alice");
    if (const auto checked = check_terms(record.terms); !checked) return tl::unexpected(checked.error());
  } else if (record.target.empty()) {
    return failure("identity", "missing: an identity such as user=mallory or ip=192.0.2.0/24");
  }
  if (record.reason.empty()) return failure("reason", "missing: write why the exception is made");
  if (const auto set = set_expiry(draft); !set) return tl::unexpected(set.error());
  return draft.record;
}

std::string factor_text(std::uint64_t factor) {
  std::string text;
  text::append_decimal(text, factor, 6);
  return text;
}

std::string terms_text(const Terms& terms) {
  if (terms.unlimited) return "unlimited";
  if (terms.banned) return "banned";
  if (terms.factor > 0) return "factor " + factor_text(terms.factor);
  if (terms.add > 0) return "+" + std::to_string(terms.add);
  std::string text;
  for (const auto& [name, value] : terms.numbers)
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(value);
  return text;
}

}  // namespace weir::overrides
