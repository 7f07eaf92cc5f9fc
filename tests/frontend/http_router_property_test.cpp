#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

#include "frontend/http_router.h"

namespace weir::frontend {
namespace {

std::string encoded(const std::string& text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    safe += '%';
    safe += digits[byte >> 4U];
    safe += digits[byte & 0xFU];
  }
  return safe;
}

RC_GTEST_PROP(TargetProperty, WhateverIsEncodedComesBack, (const std::vector<std::string>& names, std::string value)) {
  RC_PRE(!names.empty());
  std::string target;
  for (const std::string& name : names) target += "/" + encoded(name);
  target += "?tier=" + encoded(value);
  const auto read = read_target(target);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->segments == names);
  RC_ASSERT(read->parameters.front().second == value);
}

}  // namespace
}  // namespace weir::frontend
