#include "frontend/http/descriptors_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <simdjson.h>

#include "base/number.h"
#include "table/together.h"
#include "text/json.h"
#include "weir/result.h"
#include "wire/fields/delta_seconds.h"
#include "wire/rls.h"

namespace weir::frontend {
namespace {

namespace dom = simdjson::dom;
using engine::DescriptorStatus;

// The names are in the order of wire::rls::Unit.
constexpr std::array<std::string_view, 8> unit_names{"UNKNOWN", "SECOND", "MINUTE", "HOUR",
                                                     "DAY",     "MONTH",  "YEAR",   "WEEK"};
constexpr std::string_view query_domain = "weir";

tl::unexpected<Error> wrong(std::string_view where, std::string_view what) {
  return failure(std::string(where), std::string(what));
}

constexpr std::uint64_t any_number = UINT64_MAX;

// In protobuf's JSON, 2, 2.0 and 2e0 are the same whole number, and each may be a string, as 64-bit numbers usually
// are.
std::optional<std::uint64_t> whole(double value) noexcept {
  constexpr double beyond = 18446744073709551616.0;  // 2^64
  if (!(value >= 0 && value < beyond) || std::floor(value) != value) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> read_number(dom::element element) noexcept {
  std::uint64_t number = 0;
  if (element.get_uint64().get(number) == simdjson::SUCCESS) return number;
  double decimal = 0;
  if (element.get_double().get(decimal) == simdjson::SUCCESS) return whole(decimal);
  std::string_view text;
  if (element.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  if (const auto read = base::parse_number<std::uint64_t>(text)) return read;
  const auto read = base::parse_number<double>(text);
  return read ? whole(*read) : std::nullopt;
}

Result<void> read_number(dom::element element, std::string_view name, std::uint64_t max, std::uint64_t& number) {
  const auto read = read_number(element);
  if (!read) return wrong(name, "must be a whole number of at least 0");
  if (*read > max) return wrong(name, "must be at most " + std::to_string(max));
  number = *read;
  return {};
}

Result<void> read_text(dom::element element, std::string_view name, std::string_view& text) {
  if (element.get_string().get(text) != simdjson::SUCCESS) return wrong(name, "must be a string");
  return {};
}

Result<void> read_unit(dom::element element, Duration& length) {
  std::optional<std::uint64_t> unit;
  if (std::string_view name; element.get_string().get(name) == simdjson::SUCCESS) {
    const auto found = std::ranges::find(unit_names, name);
    if (found != unit_names.end()) unit = static_cast<std::uint64_t>(found - unit_names.begin());
  } else {
    unit = read_number(element);
  }
  const auto known = unit && *unit < unit_names.size() ? wire::rls::length_of(static_cast<std::uint32_t>(*unit))
                                                       : std::optional<Duration>();
  if (!known) return wrong("unit", "must be SECOND, MINUTE, HOUR, DAY, WEEK, MONTH or YEAR");
  length = *known;
  return {};
}

// The two names of a field that protobuf's JSON accepts.
struct FieldName {
  std::string_view camel;
  std::string_view snake;
};

constexpr std::array request_fields{FieldName{"domain", "domain"}, FieldName{"descriptors", "descriptors"},
                                    FieldName{"hitsAddend", "hits_addend"}};
constexpr std::array descriptor_fields{FieldName{"entries", "entries"}, FieldName{"limit", "limit"},
                                       FieldName{"hitsAddend", "hits_addend"},
                                       FieldName{"isNegativeHits", "is_negative_hits"}};
constexpr std::array entry_fields{FieldName{"key", "key"}, FieldName{"value", "value"}};
constexpr std::array override_fields{FieldName{"requestsPerUnit", "requests_per_unit"}, FieldName{"unit", "unit"}};

// Calls take(index, name, value) for each member that is not null. A duplicate field is an error, even under its other
// name, because readers disagree about which value counts.
template <class Take>
Result<void> each_field(dom::element element, std::string_view what, std::span<const FieldName> fields, Take take) {
  dom::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) return wrong(what, "must be an object");
  unsigned seen = 0;
  for (const auto& [name, value] : object) {
    const auto found = std::ranges::find_if(
        fields, [name = name](const FieldName& field) { return field.camel == name || field.snake == name; });
    if (found == fields.end()) {
      return wrong(name, "unknown field of " + std::string(what));
    }
    const auto index = static_cast<std::size_t>(found - fields.begin());
    if ((seen >> index & 1U) != 0) return wrong(found->camel, "duplicate field of " + std::string(what));
    seen |= 1U << index;
    if (value.is_null()) continue;
    if (auto done = take(index, name, value); !done) return done;
  }
  return {};
}

// Calls take(item) for each item of a list.
template <class Take>
Result<void> each_item(dom::element element, std::string_view name, Take take) {
  dom::array list;
  if (element.get_array().get(list) != simdjson::SUCCESS) return wrong(name, "must be an array");
  for (const dom::element item : list) {
    if (auto done = take(item); !done) return done;
  }
  return {};
}

}  // namespace

// Reads one request at a time. The results refer to the parser's memory until the next request.
class DescriptorsReader::Parsing {
 public:
  Result<DescriptorRequest> read(std::string_view body, BatchMemory& memory);

 private:
  Result<void> read_request(std::string_view body);
  Result<void> read_descriptor(dom::element element);
  Result<void> read_entry(dom::element element);
  static Result<void> read_hits(dom::element element, std::string_view name, Cost& hits);
  static Result<void> read_override(dom::element element, WindowNumbers& numbers);

  dom::parser parser_;
  std::string_view domain_;
  std::vector<match::DescriptorQuery> queries_;
  std::vector<DescriptorEntry> entries_;
  std::vector<std::pair<std::size_t, std::size_t>> entry_ranges_;  // the offset and count of each descriptor's entries
  std::vector<bool> has_hits_;
};

Result<DescriptorRequest> DescriptorsReader::Parsing::read(std::string_view body, BatchMemory& memory) {
  if (const auto done = read_request(body); !done) return tl::unexpected(done.error());
  for (DescriptorEntry& entry : entries_) entry = {memory.keep(entry.key), memory.keep(entry.value)};
  const std::span<DescriptorEntry> entries = memory.keep(std::span<const DescriptorEntry>(entries_));
  for (std::size_t i = 0; i < queries_.size(); ++i) {
    queries_[i].entries = entries.subspan(entry_ranges_[i].first, entry_ranges_[i].second);
  }
  return DescriptorRequest{memory.keep(domain_), memory.keep(std::span<const match::DescriptorQuery>(queries_))};
}

Result<void> DescriptorsReader::Parsing::read_request(std::string_view body) {
  dom::element root;
  if (parser_.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) return wrong("body", "invalid JSON");
  domain_ = {};
  queries_.clear();
  entries_.clear();
  entry_ranges_.clear();
  has_hits_.clear();
  std::uint64_t hits = 1;
  const auto done = each_field(
      root, "the request", request_fields, [&](std::size_t field, std::string_view name, dom::element value) {
        if (field == 0) return read_text(value, name, domain_);
        if (field == 2) return read_number(value, name, UINT32_MAX, hits);
        return each_item(value, name, [&](dom::element descriptor) { return read_descriptor(descriptor); });
      });
  if (!done) return done;
  if (domain_.empty()) return wrong("domain", "must not be empty");
  if (domain_ == query_domain) return wrong("domain", "'weir' is reserved; use POST /v1/check");
  if (queries_.empty()) return wrong("descriptors", "must not be empty");
  for (std::size_t i = 0; i < queries_.size(); ++i) {
    if (!has_hits_[i]) queries_[i].hits = Cost(std::max<std::uint64_t>(hits, 1));
  }
  return {};
}

Result<void> DescriptorsReader::Parsing::read_descriptor(dom::element element) {
  if (queries_.size() == table::max_group_size) return wrong("descriptors", "at most 64 are allowed");
  match::DescriptorQuery& query = queries_.emplace_back();
  has_hits_.push_back(false);
  entry_ranges_.emplace_back(entries_.size(), 0);
  const auto done = each_field(element, "a descriptor", descriptor_fields,
                               [&](std::size_t field, std::string_view name, dom::element value) -> Result<void> {
                                 switch (field) {
                                   case 0:
                                     return each_item(value, name, [&](dom::element item) { return read_entry(item); });
                                   case 1:
                                     return read_override(value, query.limit_override.emplace());
                                   case 2:
                                     has_hits_.back() = true;
                                     return read_hits(value, name, query.hits);
                                   default:
                                     return value.get_bool().get(query.gives_back) == simdjson::SUCCESS
                                                ? Result<void>()
                                                : wrong(name, "must be true or false");
                                 }
                               });
  entry_ranges_.back().second = entries_.size() - entry_ranges_.back().first;
  return done;
}

Result<void> DescriptorsReader::Parsing::read_entry(dom::element element) {
  DescriptorEntry& entry = entries_.emplace_back();
  return each_field(element, "an entry", entry_fields,
                    [&](std::size_t field, std::string_view name, dom::element value) {
                      return read_text(value, name, field == 0 ? entry.key : entry.value);
                    });
}

Result<void> DescriptorsReader::Parsing::read_hits(dom::element element, std::string_view name, Cost& hits) {
  std::uint64_t number = 0;
  if (auto done = read_number(element, name, any_number, number); !done) return done;
  hits = Cost(number);
  return {};
}

Result<void> DescriptorsReader::Parsing::read_override(dom::element element, WindowNumbers& numbers) {
  const auto done = each_field(
      element, "a limit", override_fields, [&](std::size_t field, std::string_view name, dom::element value) {
        return field == 0 ? read_number(value, name, UINT32_MAX, numbers.limit) : read_unit(value, numbers.window);
      });
  if (!done) return done;
  if (numbers.window == Duration::zero()) return wrong("unit", "missing in a limit");
  return {};
}

namespace {

void append_status(std::string& out, const DescriptorStatus& status) {
  out += status.admitted ? R"({"code":"OK")" : R"({"code":"OVER_LIMIT")";
  if (status.kind == DescriptorStatus::Kind::unlimited) out += R"(,"limitRemaining":4294967295)";
  if (status.kind == DescriptorStatus::Kind::limited) {
    const auto rate = wire::rls::in_units({status.numbers.limit, status.numbers.window});
    out += R"(,"currentLimit":{)";
    if (!status.name.empty()) {
      out += R"("name":)";
      text::append_json_text(out, status.name);
      out += ',';
    }
    out += R"("requestsPerUnit":)" + std::to_string(rate.requests) + R"(,"unit":")";
    out += unit_names[static_cast<std::size_t>(rate.unit)];
    out += R"("},"limitRemaining":)" + std::to_string(std::min<std::uint64_t>(status.decision.remaining, UINT32_MAX));
    if (status.admitted || status.decision.retry_after) {  // otherwise a retry never helps
      out += R"(,"durationUntilReset":")" + std::to_string(wire::seconds_up(status.decision.reset_after)) + "s\"";
    }
  }
  out += '}';
}

}  // namespace

DescriptorsReader::DescriptorsReader() : parsing_(std::make_unique<Parsing>()) {}
DescriptorsReader::~DescriptorsReader() = default;

Result<DescriptorRequest> DescriptorsReader::read(std::string_view body, BatchMemory& memory) {
  return parsing_->read(body, memory);
}

void append_descriptors(std::string& out, const answer::DescriptorVerdict& verdict) {
  out += verdict.admitted ? R"({"overallCode":"OK","statuses":[)" : R"({"overallCode":"OVER_LIMIT","statuses":[)";
  for (const DescriptorStatus& status : verdict.statuses) {
    if (&status != &verdict.statuses.front()) out += ',';
    append_status(out, status);
  }
  out += ']';
  if (answer::has_metadata(verdict)) {
    out += R"(,"dynamicMetadata":)";
    answer::append_metadata_json(out, verdict);
  }
  out += '}';
}

}  // namespace weir::frontend
