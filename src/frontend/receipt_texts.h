// Receipts as callers see them: sealed texts that say nothing and that nobody else can make.
//
// base64url without padding of: key id (4 bytes), IV (16, random), the bytes of the receipt by AES-256-GCM, and its tag
// (16). The key id is authenticated, too. A text is at most 512 letters.
//
// Of one loop, on its thread.
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

  // For those who want a receipt where can_seal() is false.
  static constexpr std::string_view no_key =
      "no receipts can be given: nodes that share a store need one key for them, in receipts.key_file of weir.yaml";

  ReceiptTexts() = default;  // without a key
  // The first key seals, all open. Their order has no meaning otherwise.
  explicit ReceiptTexts(std::span<const ReceiptKey> keys);

  [[nodiscard]] bool can_seal() const noexcept { return !keys_.empty(); }

  // Requires can_seal(), and a receipt of at most ReceiptParts::max_bytes. No text is returned twice.
  void append(std::string& out, const engine::ReceiptParts& receipt);

  // Nothing if it was not sealed by one of the keys, or was changed.
  [[nodiscard]] std::optional<engine::ReceiptParts> open(std::string_view text);

 private:
  struct FreeCipher {
    void operator()(evp_cipher_ctx_st* cipher) const noexcept;
  };
  using Cipher = std::unique_ptr<evp_cipher_ctx_st, FreeCipher>;
  using KeyId = std::array<unsigned char, 4>;  // the first bytes of the key's SHA-256
  struct Key {
    KeyId id;
    Cipher opens;  // with its key schedule
  };

  [[nodiscard]] static Cipher cipher_of(const ReceiptKey& key, bool seals);

  std::vector<Key> keys_;
  Cipher seals_;       // by the first key
  std::string bytes_;  // of the receipt at hand
};

}  // namespace weir::frontend
