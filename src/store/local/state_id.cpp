#include "store/local/state_id.h"

#include <array>
#include <utility>

#include "table/siphash.h"

namespace weir::store {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

bool is_window(Algorithm algorithm) noexcept {
  return algorithm >= Algorithm::fixed_window && algorithm != Algorithm::concurrency;
}

bool is_plain(char letter) noexcept {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

// Capitals are written as codes too: some file systems do not tell them from small letters.
std::string plain(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    if (is_plain(letter)) {
      text += letter;
    } else {
      const auto code = static_cast<unsigned char>(letter);
      text += {'%', digits[code >> 4], digits[code & 15]};
    }
  }
  return text;
}

// File names end at 255 bytes: a long one ends in a hash of all of it.
std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 120;
  if (text.size() <= longest) return text;
  std::string hash;
  const std::uint64_t value = table::siphash13({0, 0}, text);
  for (unsigned shift = 64; shift > 0; shift -= 4) hash += digits[(value >> (shift - 4)) & 15];
  return text.substr(0, longest - 17) + "~" + hash;
}

}  // namespace

std::string_view name_of(Purpose purpose) noexcept {
  static constexpr std::array<std::string_view, 7> words{"live",  "candidate",   "warnings", "denials",
                                                         "block", "descriptors", "overrides"};
  return words[static_cast<std::size_t>(purpose)];
}

StateId state_id(std::string limit_name, Purpose purpose, const Limit& limit) {
  StateId id{std::move(limit_name), purpose, limit.algorithm()};
  if (limit.calendar() != nullptr) {
    id.unit = limit.calendar()->unit();
  } else if (is_window(limit.algorithm())) {
    id.window = limit.rate().per;
  }
  return id;
}

std::string state_name(const StateId& id) {
  std::string name(state_name_prefix);
  name += shortened(plain(id.limit));
  name += "." + std::string(name_of(id.purpose)) + "." + std::string(weir::name_of(id.algorithm));
  if (id.unit) return name + "." + std::string(core::name_of(*id.unit));
  if (is_window(id.algorithm)) name += "." + std::to_string(id.window.count()) + "us";
  return name;
}

}  // namespace weir::store
