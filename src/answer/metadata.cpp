#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "answer/answer.h"
#include "policy/vocabulary.h"
#include "text/json.h"
#include "wire/protobuf.h"

namespace weir::answer {
namespace {

using engine::DescriptorStatus;
using policy::MetadataValue;
using wire::protobuf::append_message;
using Kind = MetadataValue::Kind;

// Numbers of the fields of google.protobuf.Value, Struct and ListValue.
enum Field : std::uint32_t {
  null_value = 1,
  number_value = 2,
  string_value = 3,
  bool_value = 4,
  struct_value = 5,
  list_value = 6,
  struct_fields = 1,
  list_values = 1,
  map_key = 1,
  map_value = 2,
};

bool passes_with_metadata(const DescriptorStatus& status) noexcept {
  return status.admitted && status.kind == DescriptorStatus::Kind::limited && status.metadata != nullptr;
}

// Values in `to` take precedence; maps are merged.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the policy's file may be
void merge(MetadataValue& to, const MetadataValue& from) {
  for (std::size_t i = 0; i < from.items.size(); ++i) {
    const auto known = std::ranges::find(to.names, from.names[i]);
    if (known == to.names.end()) {
      to.names.push_back(from.names[i]);
      to.items.push_back(from.items[i]);
      continue;
    }
    MetadataValue& item = to.items[static_cast<std::size_t>(known - to.names.begin())];
    if (item.kind == Kind::map && from.items[i].kind == Kind::map) merge(item, from.items[i]);
  }
}

MetadataValue merged(const DescriptorVerdict& verdict) {
  MetadataValue all;
  all.kind = Kind::map;
  for (const DescriptorStatus& status : verdict.statuses) {
    if (passes_with_metadata(status)) merge(all, *status.metadata);
  }
  return all;
}

constexpr std::string_view field_name = "metadata";  // fixed by envoyproxy/ratelimit

void append_value(std::string& out, const MetadataValue& value);

void append_field(std::string& out, std::string_view name, const MetadataValue& value) {
  append_message(out, struct_fields, [&] {
    wire::protobuf::append_bytes(out, map_key, name);
    append_message(out, map_value, [&] { append_value(out, value); });
  });
}

// Writes the number in little-endian byte order.
void append_double(std::string& out, std::uint32_t field, double number) {
  constexpr std::uint32_t eight_bytes = 1;  // the wire type
  out.push_back(static_cast<char>(field << 3U | eight_bytes));
  auto bits = std::bit_cast<std::uint64_t>(number);
  for (std::size_t i = 0; i < sizeof number; ++i, bits >>= 8U) out.push_back(static_cast<char>(bits & 0xFFU));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the policy's file may be
void append_value(std::string& out, const MetadataValue& value) {
  switch (value.kind) {
    case Kind::null:
      return wire::protobuf::append_number(out, null_value, 0);
    case Kind::truth:
      return wire::protobuf::append_number(out, bool_value, value.truth ? 1 : 0);
    case Kind::number:
      return append_double(out, number_value, value.number);
    case Kind::text:
      return wire::protobuf::append_bytes(out, string_value, value.text);
    case Kind::list:
      return append_message(out, list_value, [&] {
        for (const MetadataValue& item : value.items)
          append_message(out, list_values, [&] { append_value(out, item); });
      });
    case Kind::map:
      return append_message(out, struct_value, [&] {
        for (std::size_t i = 0; i < value.items.size(); ++i) append_field(out, value.names[i], value.items[i]);
      });
  }
}

// Appends the shortest text that parses back to the same number.
void append_json_number(std::string& out, double number) {
  std::array<char, 32> text{};
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

void append_json(std::string& out, const MetadataValue& value);

void append_json_field(std::string& out, std::string_view name, const MetadataValue& value) {
  if (out.back() != '{') out += ',';
  text::append_json_text(out, name);
  out += ':';
  append_json(out, value);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the policy's file may be
void append_json(std::string& out, const MetadataValue& value) {
  switch (value.kind) {
    case Kind::null:
      out += "null";
      break;
    case Kind::truth:
      out += value.truth ? "true" : "false";
      break;
    case Kind::number:
      append_json_number(out, value.number);
      break;
    case Kind::text:
      text::append_json_text(out, value.text);
      break;
    case Kind::list:
      out += '[';
      for (const MetadataValue& item : value.items) {
        if (&item != value.items.data()) out += ',';
        append_json(out, item);
      }
      out += ']';
      break;
    case Kind::map:
      out += '{';
      for (std::size_t i = 0; i < value.items.size(); ++i) append_json_field(out, value.names[i], value.items[i]);
      out += '}';
      break;
  }
}

}  // namespace

bool has_metadata(const DescriptorVerdict& verdict) noexcept {
  return std::ranges::any_of(verdict.statuses, passes_with_metadata);
}

void append_metadata_struct(std::string& out, const DescriptorVerdict& verdict) {
  append_field(out, field_name, merged(verdict));
}

void append_metadata_json(std::string& out, const DescriptorVerdict& verdict) {
  out += '{';
  append_json_field(out, field_name, merged(verdict));
  out += '}';
}

}  // namespace weir::answer
