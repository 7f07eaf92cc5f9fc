// A contender decides for keys.
//
// - decide(key) admits or denies at BlockClock's time, and charges what it admits.
// - decide(block) does so for 32 keys and returns the number admitted: in a batch if the contender supports it,
//   or else one by one.
// Both are callable from several threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include "table/keys.h"
#include "table/quota.h"

namespace bench::table {

template <class T>
concept Contender =
    std::constructible_from<T, Quota> && requires(T contender, const KeyBlock& block, std::string_view key) {
      { contender.decide(key) } -> std::same_as<bool>;
      { contender.decide(block) } -> std::same_as<std::size_t>;
    };

template <class T>
std::size_t decide_one_by_one(T& contender, const KeyBlock& block) {
  std::size_t admitted = 0;
  for (std::size_t i = 0; i < block_length; ++i) admitted += contender.decide(block[i]) ? 1U : 0U;
  return admitted;
}

}  // namespace bench::table
