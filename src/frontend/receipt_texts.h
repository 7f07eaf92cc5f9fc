// Seals receipts into the opaque texts that callers receive, and opens them. A text cannot be read or forged without
// the key.
//
// Format: base64url without padding of the key id (4 bytes), a random IV (16), the receipt encrypted with AES-256-GCM,
// and the tag (16). The key id is authenticated too. A text has at most 512 characters.
//
// Not thread-safe: each loop has its own.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/receipt.h"

struct evp_cipher_ctx_st;

namespace weir::frontend {

using ReceiptKey = std::array<unsigned char, 32>;

class ReceiptTexts {
 public:
  static constexpr std::size_t max_text_length = 512;

  // The error for a reservation when can_seal() is false.
  static constexpr std::string_view no_key =
      "receipts are disabled: nodes that share a store need a common key; set receipts.key_file in weir.yaml";

  ReceiptTexts() = default;  // without a key
  // The first key seals; every key opens.
  explicit ReceiptTexts(std::span<const ReceiptKey> keys);

  [[nodiscard]] bool can_seal() const noexcept { return !keys_.empty(); }

  // Requires can_seal() and a receipt of at most ReceiptParts::max_bytes. Each call yields a different text.
  void append(std::string& out, const engine::ReceiptParts& receipt);

  // Returns nothing if the text was altered or sealed with another key.
  [[nodiscard]] std::optional<engine::ReceiptParts> open(std::string_view text);

 private:
  struct FreeCipher {
    void operator()(evp_cipher_ctx_st* cipher) const noexcept;
  };
  using Cipher = std::unique_ptr<evp_cipher_ctx_st, FreeCipher>;
  using KeyId = std::array<unsigned char, 4>;  // the first bytes of the key's SHA-256
  struct Key {
    KeyId id;
    Cipher opens;  // has the key schedule
  };

  [[nodiscard]] static Cipher cipher_of(const ReceiptKey& key, bool seals);

  std::vector<Key> keys_;
  Cipher seals_;       // uses the first key
  std::string bytes_;  // buffer for one receipt
};

}  // namespace weir::frontend
