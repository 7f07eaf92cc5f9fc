#include "engine/receipt.h"

#include <algorithm>

#include "table/hash_key.h"
#include "table/siphash.h"

namespace weir::engine {
namespace {

constexpr char version = 1;
constexpr std::size_t head_bytes = 1 + 16 + 8 + 1;  // version, id, tier, number of parts
constexpr std::size_t part_bytes = 8 + 8 + 1;
constexpr std::uint8_t takes_actual_bit = 0x80;

void put(std::string& out, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(number >> (8 * i) & 0xFF);
}

// Reads from the front. If there are too few bytes, everything that follows reads as zero, and is_whole() is false.
class ReceiptBytes {
 public:
  explicit ReceiptBytes(std::string_view bytes) noexcept : bytes_(bytes) {}

  std::uint8_t byte() noexcept {
    const std::string_view one = text(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
  }
  std::uint64_t number() noexcept {
    const std::string_view eight = text(8);
    std::uint64_t number = 0;
    for (std::size_t i = eight.size(); i > 0; --i) number = number << 8 | static_cast<unsigned char>(eight[i - 1]);
    return number;
  }
  std::string_view text(std::size_t size) noexcept {
    if (bytes_.size() < size) {
      is_whole_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
  [[nodiscard]] bool is_over() const noexcept { return is_whole_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool is_whole_ = true;
};

}  // namespace

std::uint64_t ReceiptParts::name_code(std::string_view name) noexcept {
  return table::siphash13(table::HashKey{}, name);
}

void ReceiptParts::clear() noexcept {
  id = {};
  tier = 0;
  parts.clear();
  consumers.clear();
}

void ReceiptParts::add(std::uint64_t limit, table::KeyHash consumer, std::string_view text, bool takes_actual) {
  const auto known = std::ranges::find(consumers, text);
  const auto number = static_cast<std::size_t>(known - consumers.begin());
  if (known == consumers.end()) consumers.emplace_back(text);
  parts.push_back({limit, consumer, static_cast<std::uint8_t>(number), takes_actual});
}

std::size_t ReceiptParts::bytes() const noexcept {
  std::size_t sum = head_bytes + parts.size() * part_bytes + 1;
  for (const std::string& text : consumers) sum += 1 + text.size();
  return sum;
}

void ReceiptParts::append_to(std::string& out) const {
  out += version;
  put(out, id.high);
  put(out, id.low);
  put(out, tier);
  out += static_cast<char>(parts.size());
  for (const Part& part : parts) {
    put(out, part.limit);
    put(out, part.consumer.value);
    out += static_cast<char>(part.text | (part.takes_actual ? takes_actual_bit : 0));
  }
  out += static_cast<char>(consumers.size());
  for (const std::string& text : consumers) {
    out += static_cast<char>(text.size());
    out += text;
  }
}

std::optional<ReceiptParts> ReceiptParts::read(std::string_view bytes) {
  ReceiptBytes in(bytes);
  ReceiptParts receipt;
  if (in.byte() != version) return std::nullopt;
  receipt.id.high = in.number();
  receipt.id.low = in.number();
  receipt.tier = in.number();
  for (std::size_t left = in.byte(); left > 0 && in.is_whole(); --left) {
    Part part{.limit = in.number(), .consumer = {in.number()}};
    const std::uint8_t last = in.byte();
    part.text = last & static_cast<std::uint8_t>(~takes_actual_bit);
    part.takes_actual = (last & takes_actual_bit) != 0;
    receipt.parts.push_back(part);
  }
  for (std::size_t left = in.byte(); left > 0 && in.is_whole(); --left) {
    receipt.consumers.emplace_back(in.text(in.byte()));
  }
  const auto has_text = [&](const Part& part) { return part.text < receipt.consumers.size(); };
  if (!in.is_over() || !receipt.id || !std::ranges::all_of(receipt.parts, has_text)) return std::nullopt;
  return receipt;
}

core::ReceiptId receipt_id_of(std::string_view name) noexcept {
  const core::ReceiptId id{table::siphash13({1, 0}, name), table::siphash13({2, 0}, name)};
  return id ? id : core::ReceiptId{1, 0};
}

core::ReceiptId new_receipt_id() noexcept {
  thread_local const table::HashKey random = table::HashKey::random();
  thread_local std::uint64_t number = random.second;
  return {random.first | 1, ++number};
}

}  // namespace weir::engine
