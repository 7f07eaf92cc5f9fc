// Writes JSON, indented, with commas where they belong.
//
//   JsonWriter json;
//   json.begin_object();
//   json.field("lines", 12U);
//   json.begin_array("files");
//   ...
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::simulate {

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
  void field(std::string_view name, double number);
  void null(std::string_view name) { write(name, "null"); }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void begin(std::string_view name, char bracket);
  void end(char bracket);
  void write(std::string_view name, std::string_view value);
  void start_line(std::string_view name);

  std::string text_;
  std::vector<bool> has_any_;  // for each that is open: whether it has an element yet
};

}  // namespace weir::simulate
