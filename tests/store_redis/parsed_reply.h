// A parsed server reply, with the bytes that it refers to.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

class ParsedReply {
 public:
  explicit ParsedReply(std::string bytes) : bytes_(std::move(bytes)) {
    EXPECT_EQ(parser_.next(bytes_).consumed, bytes_.size()) << bytes_;
  }
  ParsedReply(const ParsedReply&) = delete;
  ParsedReply& operator=(const ParsedReply&) = delete;

  [[nodiscard]] wire::resp::Reply get() const { return parser_.reply(); }

 private:
  std::string bytes_;
  wire::resp::ReplyParser parser_;
};

}  // namespace weir::store::redis
