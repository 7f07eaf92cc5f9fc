// Writes the door's answers as JSON on one line, commas where they belong.
//
//   JsonWriter json;
//   json.begin_object();
//   json.field("limits", 12U);
//   json.begin_array("doors");
//   ...
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "weir/time.h"

namespace weir::door {

class JsonWriter {
 public:
  // Without a name: an element of an array, or the whole.
  void begin_object(std::string_view name = {}) { begin(name, '{'); }
  void end_object() { end('}'); }
  void begin_array(std::string_view name = {}) { begin(name, '['); }
  void end_array() { end(']'); }

  void field(std::string_view name, std::string_view text);
  void field(std::string_view name, const char* text) { field(name, std::string_view(text)); }
  void field(std::string_view name, std::same_as<bool> auto value) { write(name, value ? "true" : "false"); }
  void field(std::string_view name,
             std::unsigned_integral auto number) requires(!std::same_as<decltype(number), bool>) {
    write(name, std::to_string(number));
  }
  // Seconds, exact to the microsecond: 12, 0.6, 0.000001.
  void field(std::string_view name, Duration duration);
  // 2026-01-05T12:00:00Z, down to the second.
  void field(std::string_view name, Instant instant);
  void null(std::string_view name) { write(name, "null"); }

  template <class T>
  void field(std::string_view name, const std::optional<T>& value) {
    if (value) {
      field(name, *value);
    } else {
      null(name);
    }
  }
  // Empty is null.
  void field_or_null(std::string_view name, std::string_view text) {
    if (text.empty()) {
      null(name);
    } else {
      field(name, text);
    }
  }
  // Of an array.
  void element(std::string_view text) { field({}, text); }

  // With a line feed at the end.
  [[nodiscard]] std::string take() { return std::move(text_) + '\n'; }

 private:
  void begin(std::string_view name, char bracket);
  void end(char bracket);
  void write(std::string_view name, std::string_view value);
  void start(std::string_view name);

  std::string text_;
  bool comma_due_ = false;
};

}  // namespace weir::door
