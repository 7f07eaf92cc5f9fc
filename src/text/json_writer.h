// Writes JSON, on one line or indented.
//
//   JsonWriter json;
//   json.begin_object();
//   json.fields("lines", 12U, "format", "json");
//   json.begin_array("files");
//   ...
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "text/date.h"
#include "text/decimal.h"
#include "text/json.h"
#include "weir/time.h"

namespace weir::text {

// Returns nullopt, which JsonWriter writes as null, for an empty text.
[[nodiscard]] inline std::optional<std::string_view> or_null(std::string_view text) noexcept {
  return text.empty() ? std::nullopt : std::optional(text);
}

class JsonWriter {
 public:
  enum class Layout : std::uint8_t { one_line, indented };

  explicit JsonWriter(Layout layout = Layout::one_line) noexcept : layout_(layout) {}

  // An object or array without a name is an element of an array, or the root.
  void begin_object(std::string_view name = {}) { begin(name, '{'); }
  void end_object() { end('}'); }
  void begin_array(std::string_view name = {}) { begin(name, '['); }
  void end_array() { end(']'); }

  void field(std::string_view name, std::string_view text) { write(name, json_text(text)); }
  void field(std::string_view name, const char* text) { field(name, std::string_view(text)); }
  void field(std::string_view name, std::same_as<bool> auto value) { write(name, value ? "true" : "false"); }
  void field(std::string_view name, std::unsigned_integral auto number)
    requires(!std::same_as<decltype(number), bool>)
  {
    write(name, std::to_string(number));
  }
  // Writes six digits, or null if the number is not finite.
  void field(std::string_view name, double number) {
    if (!std::isfinite(number)) return null(name);
    std::array<char, 32> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 6);
    write(name, {text.data(), written.ptr});
  }
  // Writes seconds, exact to the microsecond: 12, 0.6, 0.000001.
  void field(std::string_view name, Duration duration) {
    std::string text;
    append_decimal(text, static_cast<std::uint64_t>(std::max(duration, Duration::zero()).count()), 6);
    write(name, text);
  }
  // Writes 2026-01-05T12:00:00Z, with a precision of one second.
  void field(std::string_view name, Instant instant) {
    const Rfc3339 text = rfc3339(instant);
    field(name, std::string_view(text.data(), text.size()));
  }
  template <class T>
  void field(std::string_view name, const std::optional<T>& value) {
    if (!value) return null(name);
    field(name, *value);
  }
  // Writes null for an empty text.
  void field_or_null(std::string_view name, std::string_view text) { field(name, or_null(text)); }
  void null(std::string_view name) { write(name, "null"); }
  // Writes an element of an array.
  void element(std::string_view text) { field({}, text); }

  // Writes several fields: a name, its value, the next name, ...
  template <class Value, class... Others>
  void fields(std::string_view name, const Value& value, const Others&... others) {
    field(name, value);
    if constexpr (sizeof...(others) > 0) fields(others...);
  }

  // Writes an object with these fields.
  template <class... Fields>
  void object(std::string_view name, const Fields&... all) {
    begin_object(name);
    fields(all...);
    end_object();
  }

  // Writes an object with the fields that `write_fields` writes, or null without a value.
  template <class Optional, class WriteFields>
  void object_or_null(std::string_view name, const Optional& value, const WriteFields& write_fields) {
    if (!value) return null(name);
    begin_object(name);
    write_fields(*value);
    end_object();
  }

  // Writes an array of what `write_element` writes for each, or of the elements themselves.
  template <class Elements>
  void list(std::string_view name, const Elements& elements) {
    list(name, elements, [&](const auto& each) { field({}, each); });
  }
  template <class Elements, class WriteElement>
  void list(std::string_view name, const Elements& elements, const WriteElement& write_element) {
    begin_array(name);
    for (const auto& element : elements) write_element(element);
    end_array();
  }

  // Ends with a line feed.
  [[nodiscard]] std::string take() { return std::move(text_) + '\n'; }

 private:
  void begin(std::string_view name, char bracket) {
    start(name);
    text_ += bracket;
    comma_due_ = false;
    ++depth_;
  }

  void end(char bracket) {
    --depth_;
    if (comma_due_) break_line();
    text_ += bracket;
    comma_due_ = true;
  }

  void write(std::string_view name, std::string_view value) {
    start(name);
    text_ += value;
  }

  void start(std::string_view name) {
    if (comma_due_) text_ += ',';
    if (depth_ > 0) break_line();
    comma_due_ = true;
    if (name.empty()) return;
    append_json_text(text_, name);
    text_ += layout_ == Layout::indented ? ": " : ":";
  }

  void break_line() {
    if (layout_ == Layout::indented) text_.append("\n").append(2 * depth_, ' ');
  }

  Layout layout_;
  std::string text_;
  std::size_t depth_ = 0;   // number of open objects and arrays
  bool comma_due_ = false;  // the innermost open object or array is not empty
};

}  // namespace weir::text
