#include "observe/consumer_names.h"

#include <array>
#include <cstdint>

#include "engine/consumer.h"
#include "policy/vocabulary.h"
#include "table/siphash.h"

namespace weir::observe {

using policy::KeyPart;

std::string ConsumerNames::hash_of(std::string_view value) const {
  std::string digits;
  append_hash(digits, value);
  return digits;
}

void ConsumerNames::append(std::string& out, std::string_view consumer) const {
  if (engine::is_shared_consumer(consumer)) {
    out += "shared";
    return;
  }
  const std::size_t begin = out.size();
  engine::for_each_part(consumer, [&](const KeyPart& part, std::string_view value) {
    if (out.size() > begin) out.push_back('+');
    out += text_of(part);
    if (part.kind == KeyPart::Kind::global) return;
    out.push_back(':');
    if (part.kind == KeyPart::Kind::route) {
      out += value;
    } else {
      append_hash(out, value);
    }
  });
}

void ConsumerNames::append(std::string& out, std::span<const engine::DescriptorEntry> entries) const {
  const std::size_t begin = out.size();
  for (const engine::DescriptorEntry& entry : entries) {
    if (out.size() > begin) out.push_back('+');
    out += entry.key;
    if (entry.value.empty()) continue;
    out.push_back(':');
    append_hash(out, entry.value);
  }
}

void ConsumerNames::append_hash(std::string& out, std::string_view value) const {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  std::uint64_t hash = table::siphash13(key_, value);
  std::array<char, 16> digits{};
  for (std::size_t i = digits.size(); i > 0; --i, hash >>= 4) digits[i - 1] = hexadecimal[hash & 15U];
  out.append(digits.data(), digits.size());
}

}  // namespace weir::observe
