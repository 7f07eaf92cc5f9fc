#include "engine/shared_consumer.h"

#include "engine/consumer.h"
#include "engine/sized_text.h"

namespace weir::engine {
namespace {

void append_value(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ':';
  out += std::to_string(value.size());
  out += ':';
  out += value;
}

}  // namespace

void append_shared_consumer(std::string& out, std::string_view key) {
  if (is_shared_consumer(key)) {
    out += '*';
    return;
  }
  std::string_view between;
  for_each_part(key, [&](const policy::KeyPart& name, std::string_view value) {
    out += between;
    between = "+";
    if (name.kind == policy::KeyPart::Kind::global) {
      out += "global";
    } else {
      append_value(out, text_of(name), value);
    }
  });
}

void append_shared_descriptor(std::string& out, std::string_view key) {
  while (!key.empty()) {
    out += key.front();  // as it is, or a pattern that stands for many
    key.remove_prefix(1);
    const std::string_view name = take_sized(key);
    append_value(out, "", name);
    append_value(out, "", take_sized(key));
  }
}

}  // namespace weir::engine
