#include "door/admin/json_writer.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "wire/decimal.h"
#include "wire/json_text.h"
#include "wire/utc_time.h"

namespace weir::door {

void JsonWriter::start(std::string_view name) {
  if (comma_due_) text_ += ',';
  comma_due_ = true;
  if (name.empty()) return;
  wire::append_json_text(text_, name);
  text_ += ':';
}

void JsonWriter::begin(std::string_view name, char bracket) {
  start(name);
  text_ += bracket;
  comma_due_ = false;
}

void JsonWriter::end(char bracket) {
  text_ += bracket;
  comma_due_ = true;
}

void JsonWriter::write(std::string_view name, std::string_view value) {
  start(name);
  text_ += value;
}

void JsonWriter::field(std::string_view name, std::string_view text) {
  start(name);
  wire::append_json_text(text_, text);
}

void JsonWriter::field(std::string_view name, Duration duration) {
  std::string text;
  wire::append_decimal(text, static_cast<std::uint64_t>(std::max(duration, Duration::zero()).count()), 6);
  write(name, text);
}

void JsonWriter::field(std::string_view name, Instant instant) {
  const wire::UtcTime time = wire::utc_time(std::chrono::floor<std::chrono::seconds>(instant));
  std::string text = "0000-00-00T00:00:00Z";
  wire::write_padded(text.data(), time.year, 4);
  wire::write_padded(text.data() + 5, time.month, 2);
  wire::write_padded(text.data() + 8, time.day, 2);
  wire::write_padded(text.data() + 11, time.hour, 2);
  wire::write_padded(text.data() + 14, time.minute, 2);
  wire::write_padded(text.data() + 17, time.second, 2);
  field(name, std::string_view(text));
}

}  // namespace weir::door
