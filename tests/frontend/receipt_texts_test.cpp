#include "frontend/receipt_texts.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::frontend {
namespace {

constexpr ReceiptKey first_key{1};
constexpr ReceiptKey second_key{2};
constexpr ReceiptKey third_key{3};

ReceiptTexts texts_of(std::vector<ReceiptKey> keys) {
  return ReceiptTexts(keys);
}

engine::ReceiptParts receipt_of_two_limits() {
  engine::ReceiptParts receipt;
  receipt.id = {7, 8};
  receipt.tier = engine::ReceiptParts::name_code("gold");
  receipt.add("tokens", {1234}, "user=ada", true);
  receipt.add("requests", {99}, "user=ada", false);
  return receipt;
}

engine::ReceiptParts longest_receipt() {
  engine::ReceiptParts receipt = receipt_of_two_limits();
  receipt.add("third", {5}, std::string(100, 'c'), true);
  receipt.add("fourth", {6}, "", true);
  receipt.consumers.back() = std::string(engine::ReceiptParts::max_bytes - receipt.bytes(), 'd');
  return receipt;
}

std::string sealed(ReceiptTexts& texts, const engine::ReceiptParts& receipt) {
  std::string text;
  texts.append(text, receipt);
  return text;
}

TEST(ReceiptTexts, WhatIsSealedOpens) {
  ReceiptTexts texts = texts_of({first_key});
  for (const engine::ReceiptParts& receipt : {receipt_of_two_limits(), longest_receipt()}) {
    EXPECT_EQ(texts.open(sealed(texts, receipt)), receipt);
  }
}

TEST(ReceiptTexts, ATextIsAppended) {
  ReceiptTexts texts = texts_of({first_key});
  std::string out = "receipt=";
  texts.append(out, receipt_of_two_limits());
  EXPECT_EQ(out.substr(0, 8), "receipt=");
  EXPECT_EQ(texts.open(std::string_view(out).substr(8)), receipt_of_two_limits());
}

TEST(ReceiptTexts, NoTextComesTwice) {
  ReceiptTexts texts = texts_of({first_key});
  EXPECT_NE(sealed(texts, receipt_of_two_limits()), sealed(texts, receipt_of_two_limits()));
}

TEST(ReceiptTexts, TheLongestReceiptHas512LettersThatNeedNoQuotes) {
  ReceiptTexts texts = texts_of({first_key});
  ASSERT_EQ(longest_receipt().bytes(), engine::ReceiptParts::max_bytes);
  const std::string text = sealed(texts, longest_receipt());
  EXPECT_EQ(text.size(), ReceiptTexts::max_text_length);
  EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);
}

TEST(ReceiptTexts, EveryFlippedBitIsRefused) {
  ReceiptTexts texts = texts_of({first_key});
  const std::string text = sealed(texts, receipt_of_two_limits());
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ (1U << bit));
      EXPECT_FALSE(texts.open(changed)) << "bit " << bit << " of letter " << i;
    }
  }
  EXPECT_TRUE(texts.open(text));
}

// A letter holds six bits. The bits after the last byte are not part of the receipt, but must still be zero.
TEST(ReceiptTexts, EveryOtherLetterIsRefused) {
  ReceiptTexts texts = texts_of({first_key});
  const std::string text = sealed(texts, receipt_of_two_limits());
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char letter : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ ")) {
      std::string changed = text;
      changed[i] = letter;
      EXPECT_EQ(texts.open(changed).has_value(), changed == text) << letter << " in place of letter " << i;
    }
  }
}

TEST(ReceiptTexts, WhatIsCutOrLongerIsRefused) {
  ReceiptTexts texts = texts_of({first_key});
  const std::string text = sealed(texts, receipt_of_two_limits());
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(texts.open(text.substr(0, size))) << size;
  for (const std::string_view behind : {"A", "AA", "AAAA", "=", "==", "\n", " "}) {
    EXPECT_FALSE(texts.open(text + std::string(behind))) << behind;
  }
  EXPECT_FALSE(texts.open(std::string(2'000, 'A')));
}

TEST(ReceiptTexts, ForeignTextsAreRefused) {
  ReceiptTexts texts = texts_of({first_key});
  for (const std::string_view text : {"", "A", "receipt", "eyJhbGciOiJub25lIn0", "\xff\xfe", "ä"}) {
    EXPECT_FALSE(texts.open(text)) << text;
  }
}

TEST(ReceiptTexts, AnotherKeyDoesNotOpenIt) {
  ReceiptTexts texts = texts_of({first_key});
  ReceiptTexts others = texts_of({second_key, third_key});
  EXPECT_FALSE(others.open(sealed(texts, receipt_of_two_limits())));
}

TEST(ReceiptTexts, TheFirstKeySealsAndAllOpen) {
  ReceiptTexts old = texts_of({first_key});
  ReceiptTexts both = texts_of({second_key, first_key});
  ReceiptTexts turned = texts_of({first_key, second_key});
  const std::string text = sealed(old, receipt_of_two_limits());
  EXPECT_EQ(both.open(text), receipt_of_two_limits());
  EXPECT_EQ(turned.open(text), receipt_of_two_limits());
  EXPECT_FALSE(old.open(sealed(both, receipt_of_two_limits())));
  EXPECT_EQ(turned.open(sealed(both, receipt_of_two_limits())), receipt_of_two_limits());
}

TEST(ReceiptTexts, WithoutAKeyNothingIsSealedAndNothingOpens) {
  ReceiptTexts none;
  ReceiptTexts texts = texts_of({first_key});
  EXPECT_FALSE(none.can_seal());
  EXPECT_TRUE(texts.can_seal());
  EXPECT_FALSE(none.open(sealed(texts, receipt_of_two_limits())));
}

TEST(ReceiptTexts, ARefusedTextDoesNotHarmTheNext) {
  ReceiptTexts texts = texts_of({first_key});
  std::string text = sealed(texts, receipt_of_two_limits());
  std::string changed = text;
  changed[60] = changed[60] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(texts.open(changed));
  EXPECT_EQ(texts.open(text), receipt_of_two_limits());
  EXPECT_EQ(texts.open(sealed(texts, receipt_of_two_limits())), receipt_of_two_limits());
}

}  // namespace
}  // namespace weir::frontend
