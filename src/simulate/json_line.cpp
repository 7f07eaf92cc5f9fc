#include "simulate/json_line.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "simulate/log_time.h"
#include "simulate/request_line.h"

namespace weir::simulate {
namespace {

namespace ondemand = simdjson::ondemand;
using Node = FieldMap::Node;

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

// 1.2.3.4:567 and [2001:db8::1]:567 without their ports; everything else as it is.
std::string_view without_port(std::string_view address) noexcept {
  if (address.starts_with('[')) {
    const std::size_t close = address.find(']');
    return close == std::string_view::npos ? address : address.substr(1, close - 1);
  }
  const std::size_t colon = address.find(':');
  const bool one_colon = colon != std::string_view::npos && address.find(':', colon + 1) == std::string_view::npos;
  return one_colon ? address.substr(0, colon) : address;
}

std::uint16_t status_of(std::string_view text) noexcept {
  std::uint16_t status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  return error == std::errc{} && end == text.data() + text.size() && status < 1000 ? status : std::uint16_t{0};
}

}  // namespace

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

  simdjson::error_code read(std::string_view line);
  simdjson::error_code read_object(ondemand::object object, const Node& node);
  simdjson::error_code read_value(ondemand::value value, const Node& node);
  void store(std::string_view text, const Node& node) noexcept;
  [[nodiscard]] std::string_view operator[](Field field) const noexcept {
    return slots_[static_cast<std::size_t>(field)].text;
  }
  [[nodiscard]] Parsed entry();

  FieldMap fields_;
  std::vector<Slot> slots_;
  std::vector<Header> headers_;
  std::vector<char> text_;  // the line, with the padding that simdjson reads beyond its end
  ondemand::parser parser_;
};

Parsed JsonLines::Document::parse(std::string_view line) {
  std::ranges::fill(slots_, Slot{});
  if (read(line) != simdjson::SUCCESS) return tl::unexpected(Fault::not_json);
  return entry();
}

simdjson::error_code JsonLines::Document::read(std::string_view line) {
  const std::size_t needed = line.size() + simdjson::SIMDJSON_PADDING;
  if (text_.size() < needed) text_.resize(std::max(needed, 2 * text_.size()));
  const auto padding = std::ranges::copy(line, text_.begin()).out;
  std::fill_n(padding, simdjson::SIMDJSON_PADDING, ' ');

  ondemand::document document;
  ondemand::object object;
  if (const auto error = parser_.iterate(text_.data(), line.size(), text_.size()).get(document)) return error;
  if (const auto error = document.get_object().get(object)) return error;
  if (const auto error = read_object(object, fields_.root())) return error;
  const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  return at_end ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
}

simdjson::error_code JsonLines::Document::read_object(ondemand::object object, const Node& node) {
  for (auto field : object) {
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return error;
    const Node* child = node.child(key);
    if (child == nullptr) continue;
    ondemand::value value;
    if (const auto error = field.value().get(value)) return error;
    if (const auto error = read_value(value, *child)) return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code JsonLines::Document::read_value(ondemand::value value, const Node& node) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  switch (type) {
    case ondemand::json_type::string: {
      std::string_view text;
      if (const auto error = value.get_string().get(text)) return error;
      store(text, node);
      return simdjson::SUCCESS;
    }
    case ondemand::json_type::number: {
      const std::string_view text = trimmed(value.raw_json_token());
      if (!is_number(text)) return simdjson::NUMBER_ERROR;
      store(text, node);
      return simdjson::SUCCESS;
    }
    case ondemand::json_type::object: {
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      return read_object(object, node);
    }
    case ondemand::json_type::array: {
      ondemand::array array;
      if (const auto error = value.get_array().get(array)) return error;
      bool first = true;
      for (auto element : array) {
        ondemand::value inner;
        if (const auto error = element.get(inner)) return error;
        ondemand::json_type inner_type{};
        if (const auto error = inner.type().get(inner_type)) return error;
        const bool scalar = inner_type != ondemand::json_type::array && inner_type != ondemand::json_type::object;
        if (!std::exchange(first, false) || !scalar) continue;
        if (const auto error = read_value(inner, node)) return error;
      }
      return simdjson::SUCCESS;
    }
    default:
      return simdjson::SUCCESS;
  }
}

void JsonLines::Document::store(std::string_view text, const Node& node) noexcept {
  if (text.empty() || text == "-") return;
  for (const FieldMap::Place& place : node.places) {
    Slot& slot = slots_[place.slot];
    if (place.rank < slot.rank) slot = {text, place.rank};
  }
}

Parsed JsonLines::Document::entry() {
  const Document& found = *this;
  if (found[Field::time].empty()) return tl::unexpected(Fault::no_time);
  const auto stamp = parse_log_time(found[Field::time]);
  if (!stamp) return tl::unexpected(Fault::bad_time);

  RequestLine request{found[Field::method], found[Field::target]};
  if (request.method.empty() || request.target.empty()) {
    const auto split = split_request(found[Field::request]);
    if (!split && request.target.empty()) return tl::unexpected(split.error());
    if (split && request.target.empty()) request.target = split->target;
    if (split && request.method.empty()) request.method = split->method;
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
                  .status = status_of(found[Field::status]),
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
