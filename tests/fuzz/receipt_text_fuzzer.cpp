// Parses receipts from any text: only sealed ones open. Parses their content from any bytes: it round-trips, and opens
// once sealed.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/receipt.h"
#include "frontend/receipt_texts.h"

namespace {

using namespace weir;

constexpr std::array<frontend::ReceiptKey, 2> fuzzed_keys{{{1}, {2}}};

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4'096) return 0;
  static frontend::ReceiptTexts texts(fuzzed_keys);
  const std::string input(data, data + size);
  require(!texts.open(input));
  const auto receipt = engine::ReceiptParts::read(input);
  if (!receipt) return 0;
  std::string again;
  receipt->append_to(again);
  require(again.size() == receipt->bytes());
  require(engine::ReceiptParts::read(again) == receipt);
  if (receipt->bytes() > engine::ReceiptParts::max_bytes) return 0;
  std::string text;
  texts.append(text, *receipt);
  require(text.size() <= frontend::ReceiptTexts::max_text_length);
  require(texts.open(text) == receipt);
  return 0;
}
