#include "door/http/descriptors_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include <simdjson.h>

#include "door/metadata.h"
#include "table/together.h"
#include "weir/result.h"
#include "wire/fields/delta_seconds.h"
#include "wire/json_text.h"
#include "wire/rls/unit.h"

namespace weir::door {
namespace {

namespace dom = simdjson::dom;
using engine::DescriptorStatus;

// In the order of wire::rls::Unit.
constexpr std::array<std::string_view, 8> unit_names{"UNKNOWN", "SECOND", "MINUTE", "HOUR",
                                                     "DAY",     "MONTH",  "YEAR",   "WEEK"};
constexpr std::string_view query_domain = "weir";

tl::unexpected<Error> wrong(std::string_view where, std::string_view what) {
  return failure(std::string(where), std::string(what));
}

// Protobuf's JSON writes 64-bit numbers as texts.
Result<std::uint64_t> number(dom::element element, std::string_view name) {
  std::uint64_t value = 0;
  if (element.get_uint64().get(value) == simdjson::SUCCESS) return value;
  std::string_view text;
  if (element.get_string().get(text) == simdjson::SUCCESS) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && stop == text.data() + text.size()) return value;
  }
  return wrong(name, "is not a whole number of at least 0");
}

Result<Duration> unit_length(dom::element element) {
  std::string_view name;
  if (element.get_string().get(name) == simdjson::SUCCESS) {
    const auto found = std::ranges::find(unit_names, name);
    if (found != unit_names.end()) {
      const auto length = wire::rls::length_of(static_cast<std::uint32_t>(found - unit_names.begin()));
      if (length) return *length;
    }
  }
  return wrong("unit", "must be SECOND, MINUTE, HOUR, DAY, WEEK, MONTH or YEAR");
}

// Calls known(name, value) for each member; it says false for one that it does not know.
template <class Known>
Result<void> each_member(dom::element element, std::string_view what, Known known) {
  dom::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) return wrong(what, "is not an object");
  for (const auto& [name, value] : object) {
    const Result<bool> taken = known(name, value);
    if (!taken) return tl::unexpected(taken.error());
    if (!*taken) return wrong("field '" + std::string(name) + "'", "is not known in " + std::string(what));
  }
  return {};
}

}  // namespace

// One request; what is read views the parser, until the next.
class DescriptorsJson::Reader {
 public:
  Result<DescriptorQuestion> read(std::string_view body, QuestionArena& arena);

 private:
  Result<void> read_request(std::string_view body);
  Result<void> read_descriptor(dom::element element);
  Result<void> read_entries(dom::element element);
  Result<WindowNumbers> read_override(dom::element element);

  dom::parser parser_;
  std::string_view domain_;
  std::vector<engine::DescriptorAsk> asks_;
  std::vector<engine::DescriptorEntry> entries_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  // of each descriptor's entries
  std::vector<bool> has_hits_;
};

Result<DescriptorQuestion> DescriptorsJson::Reader::read(std::string_view body, QuestionArena& arena) {
  if (const auto done = read_request(body); !done) return tl::unexpected(done.error());
  for (engine::DescriptorEntry& entry : entries_) entry = {arena.keep(entry.key), arena.keep(entry.value)};
  const std::span<engine::DescriptorEntry> entries = arena.keep(std::span<const engine::DescriptorEntry>(entries_));
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    asks_[i].entries = entries.subspan(places_[i].first, places_[i].second);
  }
  return DescriptorQuestion{arena.keep(domain_), arena.keep(std::span<const engine::DescriptorAsk>(asks_))};
}

Result<void> DescriptorsJson::Reader::read_request(std::string_view body) {
  dom::element root;
  if (parser_.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS) return wrong("body", "is not JSON");
  domain_ = {};
  asks_.clear();
  entries_.clear();
  places_.clear();
  has_hits_.clear();
  std::uint64_t hits = 1;
  const auto done = each_member(root, "the request", [&](std::string_view name, dom::element value) -> Result<bool> {
    if (name == "domain") {
      if (value.get_string().get(domain_) != simdjson::SUCCESS) return wrong(name, "is not a text");
    } else if (name == "descriptors") {
      dom::array list;
      if (value.get_array().get(list) != simdjson::SUCCESS) return wrong(name, "is not a list");
      for (const dom::element descriptor : list) {
        if (const auto read = read_descriptor(descriptor); !read) return tl::unexpected(read.error());
      }
    } else if (name == "hitsAddend" || name == "hits_addend") {
      const auto read = number(value, name);
      if (!read) return tl::unexpected(read.error());
      hits = std::max<std::uint64_t>(*read, 1);
    } else {
      return false;
    }
    return true;
  });
  if (!done) return done;
  if (domain_.empty()) return wrong("domain", "must not be empty");
  if (domain_ == query_domain) return wrong("domain", "'weir' is asked about by POST /v1/check");
  if (asks_.empty()) return wrong("descriptors", "must not be empty");
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    if (!has_hits_[i]) asks_[i].hits = Cost(hits);
  }
  return {};
}

Result<void> DescriptorsJson::Reader::read_descriptor(dom::element element) {
  if (asks_.size() == table::most_together) return wrong("descriptors", "are more than 64, which are judged together");
  asks_.emplace_back();
  has_hits_.push_back(false);
  places_.emplace_back(entries_.size(), 0);
  const auto done =
      each_member(element, "a descriptor", [&](std::string_view name, dom::element value) -> Result<bool> {
        if (name == "entries") {
          const auto read = read_entries(value);
          if (!read) return tl::unexpected(read.error());
          places_.back().second = entries_.size() - places_.back().first;
        } else if (name == "limit") {
          const auto read = read_override(value);
          if (!read) return tl::unexpected(read.error());
          asks_.back().limit_override = *read;
        } else if (name == "hitsAddend" || name == "hits_addend") {
          const auto read = number(value, name);
          if (!read) return tl::unexpected(read.error());
          asks_.back().hits = Cost(*read);
          has_hits_.back() = true;
        } else {
          return false;
        }
        return true;
      });
  return done;
}

Result<void> DescriptorsJson::Reader::read_entries(dom::element element) {
  dom::array list;
  if (element.get_array().get(list) != simdjson::SUCCESS) return wrong("entries", "are not a list");
  for (const dom::element item : list) {
    engine::DescriptorEntry entry;
    const auto done = each_member(item, "an entry", [&](std::string_view name, dom::element value) -> Result<bool> {
      if (name != "key" && name != "value") return false;
      if (value.get_string().get(name == "key" ? entry.key : entry.value) != simdjson::SUCCESS) {
        return wrong(name, "is not a text");
      }
      return true;
    });
    if (!done) return done;
    entries_.push_back(entry);
  }
  return {};
}

Result<WindowNumbers> DescriptorsJson::Reader::read_override(dom::element element) {
  WindowNumbers numbers;
  const auto done = each_member(element, "a limit", [&](std::string_view name, dom::element value) -> Result<bool> {
    if (name == "requestsPerUnit" || name == "requests_per_unit") {
      const auto read = number(value, name);
      if (!read) return tl::unexpected(read.error());
      numbers.limit = *read;
    } else if (name == "unit") {
      const auto read = unit_length(value);
      if (!read) return tl::unexpected(read.error());
      numbers.window = *read;
    } else {
      return false;
    }
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  if (numbers.window == Duration::zero()) return wrong("unit", "is missing in a limit");
  return numbers;
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
      wire::append_json_text(out, status.name);
      out += ',';
    }
    out += R"("requestsPerUnit":)" + std::to_string(rate.requests) + R"(,"unit":")";
    out += unit_names[static_cast<std::size_t>(rate.unit)];
    out += R"("},"limitRemaining":)" + std::to_string(std::min<std::uint64_t>(status.decision.remaining, UINT32_MAX));
    if (status.admitted || status.decision.retry_after) {  // else waiting never helps
      out += R"(,"durationUntilReset":")" + std::to_string(wire::seconds_up(status.decision.reset_after)) + "s\"";
    }
  }
  out += '}';
}

}  // namespace

DescriptorsJson::DescriptorsJson(Desk& desk) : desk_(desk), reader_(std::make_unique<Reader>()) {}
DescriptorsJson::~DescriptorsJson() = default;

Result<DescriptorQuestion> DescriptorsJson::read(std::string_view body, QuestionArena& arena) {
  return reader_->read(body, arena);
}

void DescriptorsJson::write(const DescriptorRuling& ruling, std::string& out, Fields& fields) {
  out.clear();
  fields.clear();
  out += ruling.admitted ? R"({"overallCode":"OK","statuses":[)" : R"({"overallCode":"OVER_LIMIT","statuses":[)";
  for (const DescriptorStatus& status : ruling.statuses) {
    if (&status != &ruling.statuses.front()) out += ',';
    append_status(out, status);
  }
  out += ']';
  if (has_metadata(ruling)) {
    out += R"(,"dynamicMetadata":)";
    append_metadata_json(out, ruling);
  }
  out += '}';
  if (auto told = answer_fields(ruling)) {
    if (told->retry_after) *told->retry_after += desk_.jitter();
    wire::for_each_field(*told, desk_.settings().fields, ruling.now,
                         [&](std::string_view name, std::string_view value) { fields.emplace_back(name, value); });
  }
}

}  // namespace weir::door
