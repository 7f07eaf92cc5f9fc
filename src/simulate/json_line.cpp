#include "simulate/json_line.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "base/number.h"
#include "simulate/combined_line.h"
#include "text/date.h"

namespace weir::simulate {
namespace {

namespace ondemand = simdjson::ondemand;
using Node = FieldMap::Node;

struct KnownField {
  std::string_view name;   // the name in assignments
  std::string_view known;  // names in lines, in order of precedence
};

constexpr std::array<KnownField, field_count> known_fields{{
    {"time", "time timestamp ts @timestamp msec time_iso8601 time_local StartUTC start_time datetime date"},
    {"ip",
     "remote_addr ip client_ip clientip remote_ip request.client_ip request.remote_ip source.ip ClientHost "
     "downstream_remote_address client remote_host"},
    {"user", "user remote_user user_id username user.id user.name ClientUsername"},
    {"api_key", "api_key apikey api_key_id"},
    {"tier", "tier plan"},
    {"method", "method request_method http_method request.method http.request.method RequestMethod"},
    {"target", "request_uri uri url path target request.uri url.original url.path RequestPath"},
    {"request", "request request_line"},
    {"status", "status status_code response_code http.response.status_code DownstreamStatus"},
    {"cost", ""},
    {"duration", "request_time"},  // not `duration`: Caddy's is in seconds, Envoy's in milliseconds
    {"duration_ms", "duration_ms"},
    {"duration_us", "duration_us"},
    {"duration_ns", "Duration event.duration"},
}};

struct DurationField {
  Field field;
  std::string_view unit;
  std::uint64_t nanoseconds;
};
constexpr std::array<DurationField, 4> duration_fields{{
    {Field::duration, "s", 1'000'000'000},
    {Field::duration_ms, "ms", 1'000'000},
    {Field::duration_us, "us", 1'000},
    {Field::duration_ns, "ns", 1},
}};

bool is_duration(Field field) noexcept {
  return std::ranges::any_of(duration_fields, [&](const DurationField& one) { return one.field == field; });
}

constexpr std::string_view header_prefix = "header:";

std::optional<Field> field_named(std::string_view name) noexcept {
  if (name == "path") return Field::target;
  for (std::size_t i = 0; i < known_fields.size(); ++i) {
    if (known_fields[i].name == name) return static_cast<Field>(i);
  }
  return {};
}

bool is_path(std::string_view path) noexcept {
  if (path.empty() || path.size() > FieldMap::max_name_length) return false;
  if (path.starts_with('.') || path.ends_with('.') || path.find("..") != std::string_view::npos) return false;
  return std::ranges::count(path, '.') < static_cast<std::ptrdiff_t>(FieldMap::max_depth);
}

std::size_t length_of(const Node& node) noexcept {
  return node.name.size();
}

Node& child_of(Node& parent, std::string_view name) {
  const auto found = std::ranges::find(parent.children, name, &Node::name);
  if (found != parent.children.end()) return *found;
  const auto position = std::ranges::upper_bound(parent.children, name.size(), {}, length_of);
  return *parent.children.insert(position, Node{std::string(name), {}, {}});
}

constexpr std::size_t no_rank = static_cast<std::size_t>(-1);

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n')) {
    text.remove_suffix(1);
  }
  return text;
}

bool is_number(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

// Removes the port of 1.2.3.4:567 and [2001:db8::1]:567. Leaves other texts unchanged.
std::string_view without_port(std::string_view address) noexcept {
  if (address.starts_with('[')) {
    const std::size_t close = address.find(']');
    return close == std::string_view::npos ? address : address.substr(1, close - 1);
  }
  const std::size_t colon = address.find(':');
  const bool one_colon = colon != std::string_view::npos && address.find(':', colon + 1) == std::string_view::npos;
  return one_colon ? address.substr(0, colon) : address;
}

std::uint16_t whole_status(std::string_view text) noexcept {
  const std::uint16_t status = base::parse_number<std::uint16_t>(text).value_or(0);
  return status < 1000 ? status : std::uint16_t{0};
}

// Parses `1.25`, in units of `nanoseconds` unless a unit follows. Truncates to microseconds, at least 1.
std::optional<Duration> duration_of(std::string_view text, std::uint64_t nanoseconds) noexcept {
  const std::size_t number_end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = text.substr(number_end);
  if (!unit.empty()) {
    const auto found = std::ranges::find(duration_fields, unit, &DurationField::unit);
    if (found == duration_fields.end()) return {};
    nanoseconds = found->nanoseconds;
  }
  text = text.substr(0, number_end);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = base::parse_number<std::uint64_t>(text.substr(0, point));
  constexpr std::uint64_t max_nanoseconds = 1'000'000'000'000'000'000;  // 31 years
  if (!whole || *whole > max_nanoseconds / nanoseconds) return {};
  std::uint64_t sum = *whole * nanoseconds;
  for (const char digit : text.substr(std::min(point + 1, text.size()))) {
    if (digit == '.') return {};
    nanoseconds /= 10;
    sum += static_cast<std::uint64_t>(digit - '0') * nanoseconds;
  }
  return std::max(Duration{1}, Duration{static_cast<Duration::rep>(sum / 1'000)});
}

}  // namespace

const FieldMap::Node* FieldMap::Node::child(std::string_view key) const noexcept {
  auto node = std::ranges::lower_bound(children, key.size(), {}, length_of);
  while (node != children.end() && node->name.size() == key.size()) {
    if (node->name == key) return &*node;
    ++node;
  }
  return nullptr;
}

FieldMap::FieldMap() {
  for (std::size_t i = 0; i < field_count; ++i) add_known(static_cast<Field>(i));
}

Result<FieldMap> FieldMap::with(std::span<const std::string> assignments) {
  FieldMap map{Nothing{}};
  std::array<bool, field_count> assigned{};
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    const std::string_view name = std::string_view(assignment).substr(0, equals);
    const std::string_view path =
        equals == std::string::npos ? std::string_view{} : std::string_view(assignment).substr(equals + 1);
    if (!is_path(path)) {
      return failure(assignment, "not FIELD=PATH; for example time=ts or user=request.headers.x-user");
    }
    if (name.starts_with(header_prefix)) {
      const std::string_view header = name.substr(header_prefix.size());
      if (header.empty() || header.size() > max_name_length) return failure(assignment, "missing header name");
      if (map.header_names_.size() == max_headers) {
        return failure(assignment, "too many headers; at most " + std::to_string(max_headers));
      }
      map.add(path, {map.slot_count(), 0});
      map.header_names_.emplace_back(header);
      continue;
    }
    const auto field = field_named(name);
    if (!field) {
      return failure(assignment,
                     "unknown field; valid fields: time, ip, user, api_key, tier, method, target, request, status, "
                     "cost, duration (in seconds), duration_ms, duration_us, duration_ns and header:NAME");
    }
    const auto slot = static_cast<std::size_t>(*field);
    if (assigned[slot]) {
      return failure(assignment, "duplicate assignment of " + std::string(is_duration(*field) ? "duration" : name));
    }
    assigned[slot] = true;
    if (is_duration(*field)) {
      for (const DurationField& one : duration_fields) assigned[static_cast<std::size_t>(one.field)] = true;
    }
    if (*field == Field::cost) map.has_cost_ = true;
    map.add(path, {slot, 0});
  }
  for (std::size_t i = 0; i < field_count; ++i) {
    if (!assigned[i]) map.add_known(static_cast<Field>(i));
  }
  return map;
}

void FieldMap::add_known(Field field) {
  const auto slot = static_cast<std::size_t>(field);
  std::string_view names = known_fields[slot].known;
  for (std::size_t rank = 0; !names.empty(); ++rank) {
    const std::string_view name = names.substr(0, names.find(' '));
    add(name, {slot, rank});
    names.remove_prefix(std::min(name.size() + 1, names.size()));
  }
}

// Adds a path with dots both as nested names and as one name.
void FieldMap::add(std::string_view path, Target target) {
  child_of(root_, path).targets.push_back(target);
  if (path.find('.') == std::string_view::npos) return;
  Node* node = &root_;
  while (true) {
    const std::size_t dot = path.find('.');
    node = &child_of(*node, path.substr(0, dot));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  node->targets.push_back(target);
}

void FieldMap::skip_durations() {
  skip_durations(root_);
}

void FieldMap::skip_durations(Node& node) {
  std::erase_if(node.targets, [](const Target& target) {
    return target.slot < field_count && is_duration(static_cast<Field>(target.slot));
  });
  for (Node& child : node.children) skip_durations(child);
  std::erase_if(node.children, [](const Node& child) { return child.targets.empty() && child.children.empty(); });
}

class JsonLines::Document {
 public:
  explicit Document(FieldMap fields) : fields_(std::move(fields)), slots_(fields_.slot_count()) {
    headers_.reserve(fields_.header_names().size());
  }

  [[nodiscard]] Parsed parse(std::string_view line);

 private:
  struct Slot {
    std::string_view text;
    std::size_t rank = no_rank;
  };

  [[nodiscard]] bool read(std::string_view line);
  void read_object(ondemand::object object, const Node& node);
  void read_value(ondemand::value value, const Node& node);
  void store(std::string_view text, const Node& node) noexcept;
  [[nodiscard]] std::string_view operator[](Field field) const noexcept {
    return slots_[static_cast<std::size_t>(field)].text;
  }
  [[nodiscard]] std::optional<Duration> duration() const noexcept;
  [[nodiscard]] Parsed entry();

  FieldMap fields_;
  std::vector<Slot> slots_;
  std::vector<Header> headers_;
  std::vector<char> text_;  // the line and simdjson's padding
  ondemand::parser parser_;
};

Parsed JsonLines::Document::parse(std::string_view line) {
  std::ranges::fill(slots_, Slot{});
  try {
    if (!read(line)) return tl::unexpected(Fault::not_json);
  } catch (const simdjson::simdjson_error&) {
    return tl::unexpected(Fault::not_json);
  }
  return entry();
}

// Returns false if anything follows the object.
bool JsonLines::Document::read(std::string_view line) {
  const std::size_t needed = line.size() + simdjson::SIMDJSON_PADDING;
  if (text_.size() < needed) text_.resize(std::max(needed, 2 * text_.size()));
  const auto padding = std::ranges::copy(line, text_.begin()).out;
  std::fill_n(padding, simdjson::SIMDJSON_PADDING, ' ');
  ondemand::document document = parser_.iterate(text_.data(), line.size(), text_.size());
  read_object(document.get_object(), fields_.root());
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

void JsonLines::Document::read_object(ondemand::object object, const Node& node) {
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (const Node* child = node.child(key)) read_value(field.value(), *child);
  }
}

void JsonLines::Document::read_value(ondemand::value value, const Node& node) {
  const ondemand::json_type type = value.type();
  if (type == ondemand::json_type::string) {
    store(value.get_string(), node);
  } else if (type == ondemand::json_type::number) {
    const std::string_view text = trimmed(value.raw_json_token());
    if (!is_number(text)) throw simdjson::simdjson_error(simdjson::NUMBER_ERROR);
    store(text, node);
  } else if (type == ondemand::json_type::object) {
    read_object(value.get_object(), node);
  } else if (type == ondemand::json_type::array) {
    bool first = true;
    for (ondemand::value element : value.get_array()) {
      const ondemand::json_type inner = element.type();
      const bool scalar = inner != ondemand::json_type::array && inner != ondemand::json_type::object;
      if (std::exchange(first, false) && scalar) read_value(element, node);
    }
  }
}

void JsonLines::Document::store(std::string_view text, const Node& node) noexcept {
  if (text.empty() || text == "-") return;
  for (const FieldMap::Target& target : node.targets) {
    Slot& slot = slots_[target.slot];
    if (target.rank < slot.rank) slot = {text, target.rank};
  }
}

std::optional<Duration> JsonLines::Document::duration() const noexcept {
  for (const DurationField& one : duration_fields) {
    const std::string_view text = (*this)[one.field];
    if (!text.empty()) return duration_of(text, one.nanoseconds);
  }
  return {};
}

Parsed JsonLines::Document::entry() {
  const Document& found = *this;
  if (found[Field::time].empty()) return tl::unexpected(Fault::no_time);
  const auto stamp = text::parse_log_time(found[Field::time]);
  if (!stamp) return tl::unexpected(Fault::bad_time);

  RequestLine request{found[Field::method], found[Field::target]};
  if (request.method.empty() || request.target.empty()) {
    const auto split = split_request(found[Field::request]);
    if (!split && request.target.empty()) return tl::unexpected(split.error());
    if (split && request.target.empty()) request.target = split->target;
    if (split && request.method.empty()) request.method = split->method;
  }

  std::optional<Cost> cost;
  if (!found[Field::cost].empty()) {
    const auto units = base::parse_number<std::uint32_t>(found[Field::cost]);
    if (!units) return tl::unexpected(Fault::bad_cost);
    cost = Cost{*units};
  }

  headers_.clear();
  for (std::size_t i = 0; i < fields_.header_names().size(); ++i) {
    const std::string_view value = slots_[field_count + i].text;
    if (!value.empty()) headers_.push_back({fields_.header_names()[i], value});
  }
  return LogEntry{.at = stamp->at,
                  .ip = without_port(found[Field::ip]),
                  .user = found[Field::user],
                  .api_key = found[Field::api_key],
                  .tier = found[Field::tier],
                  .method = request.method,
                  .target = request.target,
                  .headers = headers_,
                  .cost = cost,
                  .duration = duration(),
                  .status = whole_status(found[Field::status]),
                  .grain = stamp->grain};
}

JsonLines::JsonLines(FieldMap fields) : document_(std::make_unique<Document>(std::move(fields))) {}
JsonLines::~JsonLines() = default;
JsonLines::JsonLines(JsonLines&&) noexcept = default;
JsonLines& JsonLines::operator=(JsonLines&&) noexcept = default;

Parsed JsonLines::parse(std::string_view line) {
  return document_->parse(line);
}

}  // namespace weir::simulate
