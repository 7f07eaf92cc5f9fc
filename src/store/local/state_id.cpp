#include "store/local/state_id.h"

#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/hex.h"
#include "base/percent.h"
#include "table/siphash.h"

namespace weir::store {
namespace {

bool is_window(Algorithm algorithm) noexcept {
  return algorithm >= Algorithm::fixed_window && algorithm != Algorithm::concurrency;
}

// Capital letters are encoded, too: some file systems ignore case.
std::string plain(std::string_view name) {
  const auto is_plain = [](char c) { return base::is_lower(c) || base::is_digit(c) || c == '-' || c == '_'; };
  return base::percent_encoded(name, is_plain, base::lower_hex_digits);
}

// File names are limited to 255 bytes: a long one is cut and ends in a hash of the whole.
std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 120;
  if (text.size() <= longest) return text;
  std::string cut = text.substr(0, longest - 17) + "~";
  base::append_hex(cut, table::siphash13({0, 0}, text), 16);
  return cut;
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
