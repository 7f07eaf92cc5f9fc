#include "frontend/receipt_texts.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace weir::frontend {
namespace {

constexpr std::size_t key_id_bytes = 4;
constexpr std::size_t iv_bytes = 16;
constexpr std::size_t tag_bytes = 16;
constexpr std::size_t head_bytes = key_id_bytes + iv_bytes;
constexpr std::size_t max_sealed_bytes = head_bytes + engine::ReceiptParts::max_bytes + tag_bytes;

static_assert((max_sealed_bytes * 8 + 5) / 6 <= ReceiptTexts::max_text_length);

using SealedBytes = std::array<unsigned char, max_sealed_bytes>;

constexpr std::string_view receipt_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t no_letter = 64;

constexpr std::array<std::uint8_t, 256> letter_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_letter);
  for (std::size_t i = 0; i < receipt_letters.size(); ++i) {
    values[static_cast<unsigned char>(receipt_letters[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

void append_letters(std::string& out, std::span<const unsigned char> bytes) {
  unsigned bits = 0;
  unsigned bit_count = 0;
  for (const unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (bit_count += 8; bit_count >= 6; bit_count -= 6) out += receipt_letters[bits >> (bit_count - 6) & 63];
  }
  if (bit_count > 0) out += receipt_letters[bits << (6 - bit_count) & 63];
}

// Returns the number of bytes; nothing if the text is too long or cannot have been written by append_letters().
std::optional<std::size_t> read_letters(std::string_view text, SealedBytes& bytes) noexcept {
  if (text.size() > ReceiptTexts::max_text_length || text.size() % 4 == 1) return std::nullopt;
  unsigned bits = 0;
  unsigned bit_count = 0;
  std::size_t size = 0;
  for (const char letter : text) {
    const std::uint8_t value = letter_values[static_cast<unsigned char>(letter)];
    if (value == no_letter) return std::nullopt;
    bits = bits << 6 | value;
    bit_count += 6;
    if (bit_count < 8) continue;
    if (size == bytes.size()) return std::nullopt;
    bit_count -= 8;
    bytes[size++] = static_cast<unsigned char>(bits >> bit_count);
  }
  // Unused bits must be zero, so that a sealed receipt has exactly one text.
  if ((bits & ((1U << bit_count) - 1)) != 0) return std::nullopt;
  return size;
}

// The cipher and the random generator cannot fail once the process has started.
void require_crypto(int done) {
  if (done != 1) throw std::runtime_error("receipts cannot be sealed: OpenSSL failed");
}

const unsigned char* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

void ReceiptTexts::FreeCipher::operator()(evp_cipher_ctx_st* cipher) const noexcept {
  EVP_CIPHER_CTX_free(cipher);
}

ReceiptTexts::Cipher ReceiptTexts::cipher_of(const ReceiptKey& key, bool seals) {
  Cipher cipher(EVP_CIPHER_CTX_new());
  const int direction = seals ? 1 : 0;
  require_crypto(EVP_CipherInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, nullptr, nullptr, direction));
  require_crypto(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_IVLEN, iv_bytes, nullptr));
  require_crypto(EVP_CipherInit_ex(cipher.get(), nullptr, nullptr, key.data(), nullptr, direction));
  return cipher;
}

ReceiptTexts::ReceiptTexts(std::span<const ReceiptKey> keys) {
  for (const ReceiptKey& key : keys) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    require_crypto(EVP_Digest(key.data(), key.size(), digest.data(), &size, EVP_sha256(), nullptr));
    KeyId id{};
    std::copy_n(digest.begin(), id.size(), id.begin());
    keys_.push_back({id, cipher_of(key, false)});
  }
  if (!keys.empty()) seals_ = cipher_of(keys.front(), true);
}

void ReceiptTexts::append(std::string& out, const engine::ReceiptParts& receipt) {
  bytes_.clear();
  receipt.append_to(bytes_);
  SealedBytes sealed;
  if (!can_seal() || bytes_.size() > engine::ReceiptParts::max_bytes)
    throw std::logic_error("receipt cannot be sealed: no key, or too long");

  const KeyId& id = keys_.front().id;
  std::ranges::copy(id, sealed.begin());
  unsigned char* const iv = sealed.data() + key_id_bytes;
  require_crypto(RAND_bytes(iv, iv_bytes));
  EVP_CIPHER_CTX* const cipher = seals_.get();
  int written = 0;
  int rest = 0;
  require_crypto(EVP_EncryptInit_ex(cipher, nullptr, nullptr, nullptr, iv));
  require_crypto(EVP_EncryptUpdate(cipher, nullptr, &written, id.data(), static_cast<int>(id.size())));
  unsigned char* at = sealed.data() + head_bytes;
  require_crypto(EVP_EncryptUpdate(cipher, at, &written, bytes_of(bytes_), static_cast<int>(bytes_.size())));
  at += written;
  require_crypto(EVP_EncryptFinal_ex(cipher, at, &rest));
  require_crypto(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, tag_bytes, at));
  append_letters(out, std::span(sealed).first(head_bytes + bytes_.size() + tag_bytes));
}

std::optional<engine::ReceiptParts> ReceiptTexts::open(std::string_view text) {
  SealedBytes sealed;
  const std::optional<std::size_t> size = read_letters(text, sealed);
  if (!size || *size < head_bytes + tag_bytes) return std::nullopt;
  const std::size_t length = *size - head_bytes - tag_bytes;
  for (Key& key : keys_) {
    if (!std::equal(key.id.begin(), key.id.end(), sealed.begin())) continue;
    EVP_CIPHER_CTX* const cipher = key.opens.get();
    unsigned char* const at = sealed.data() + head_bytes;
    bytes_.resize(length);
    auto* const opened = reinterpret_cast<unsigned char*>(bytes_.data());
    int written = 0;
    const bool is_whole =
        EVP_DecryptInit_ex(cipher, nullptr, nullptr, nullptr, sealed.data() + key_id_bytes) == 1 &&
        EVP_DecryptUpdate(cipher, nullptr, &written, key.id.data(), static_cast<int>(key.id.size())) == 1 &&
        EVP_DecryptUpdate(cipher, opened, &written, at, static_cast<int>(length)) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, tag_bytes, at + length) == 1 &&
        EVP_DecryptFinal_ex(cipher, opened + written, &written) == 1;
    if (is_whole) return engine::ReceiptParts::read(bytes_);
  }
  return std::nullopt;
}

}  // namespace weir::frontend
