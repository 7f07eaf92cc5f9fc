// Appends an envoy.service.ratelimit.v3.RateLimitResponse to a buffer of the caller, field by field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/header.h"
#include "weir/time.h"
#include "wire/protobuf/writer.h"
#include "wire/rls/unit.h"

namespace weir::wire::rls {

enum class Code : std::uint8_t { unknown = 0, ok = 1, over_limit = 2 };

struct CurrentLimit {
  UnitRate rate;
  std::string_view name;  // empty: it has none
};

// What is said about one descriptor.
struct DescriptorStatus {
  Code code = Code::ok;
  std::optional<CurrentLimit> current_limit{};
  std::uint64_t limit_remaining = 0;               // told as at most 2^32-1
  std::optional<Duration> duration_until_reset{};  // in seconds, rounded up
};

class RateLimitResponse {
 public:
  RateLimitResponse(std::string& out, Code overall);

  // In the order of the descriptors.
  void status(const DescriptorStatus& status);
  // For the client of the proxy. The name is written in lower case.
  void response_header(std::string_view name, std::string_view value);
  void raw_body(std::string_view body);
  // `write` appends the fields of a google.protobuf.Struct to the same buffer.
  template <class Write>
  void dynamic_metadata(const Write& write) {
    protobuf::append_message(out_, 6, write);
  }

 private:
  std::string& out_;
};

}  // namespace weir::wire::rls
