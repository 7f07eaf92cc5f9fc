// Parses targets of the admin listener from any bytes: what is accepted round-trips.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "frontend/http_router.h"

namespace {

using weir::frontend::read_target;
using weir::frontend::Target;

std::string encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    safe += {'%', digits[byte >> 4U], digits[byte & 0xFU]};
  }
  return safe;
}

std::string written(const Target& target) {
  std::string text;
  for (const std::string& segment : target.segments) text += "/" + encoded(segment);
  char separator = '?';
  for (const auto& [name, value] : target.parameters) {
    text += separator + encoded(name) + "=" + encoded(value);
    separator = '&';
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto target = read_target({reinterpret_cast<const char*>(data), size});
  if (!target) return 0;
  const auto again = read_target(written(*target));
  if (!again || again->segments != target->segments || again->parameters != target->parameters) std::abort();
  return 0;
}
