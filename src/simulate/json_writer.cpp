#include "simulate/json_writer.h"

#include <cmath>

#include <fmt/core.h>

#include "wire/json_text.h"

namespace weir::simulate {

void JsonWriter::field(std::string_view name, std::string_view text) {
  write(name, wire::json_text(text));
}

void JsonWriter::field(std::string_view name, double number) {
  write(name, std::isfinite(number) ? fmt::format("{:.6g}", number) : "null");
}

void JsonWriter::begin(std::string_view name, char bracket) {
  start_line(name);
  text_ += bracket;
  has_any_.push_back(false);
}

void JsonWriter::end(char bracket) {
  const bool has_any = has_any_.back();
  has_any_.pop_back();
  if (has_any) text_.append("\n").append(2 * has_any_.size(), ' ');
  text_ += bracket;
  if (has_any_.empty()) text_ += '\n';
}

void JsonWriter::write(std::string_view name, std::string_view value) {
  start_line(name);
  text_ += value;
}

void JsonWriter::start_line(std::string_view name) {
  if (has_any_.empty()) return;
  text_ += has_any_.back() ? ",\n" : "\n";
  has_any_.back() = true;
  text_.append(2 * has_any_.size(), ' ');
  if (!name.empty()) text_.append(wire::json_text(name)).append(": ");
}

}  // namespace weir::simulate
