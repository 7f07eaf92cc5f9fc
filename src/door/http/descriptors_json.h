// POST /json: a RateLimitRequest of Envoy's in protobuf's JSON, answered as envoyproxy/ratelimit does:
//
//   {"domain": "mongo", "descriptors": [{"entries": [{"key": "database", "value": "users"}]}]}
//   {"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT","currentLimit":{"requestsPerUnit":500,
//    "unit":"SECOND"},"limitRemaining":0,"durationUntilReset":"1s"}]}
//
// Names may be written in either case (hitsAddend, hits_addend); fields that are not known are refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "door/desk.h"

namespace weir::door {

// One per loop.
class DescriptorsJson {
 public:
  explicit DescriptorsJson(Desk& desk);
  ~DescriptorsJson();
  DescriptorsJson(const DescriptorsJson&) = delete;
  DescriptorsJson& operator=(const DescriptorsJson&) = delete;

  // Writes the answer's body into `out`, and its header fields into `fields`. The status: 200 admitted, 429 over a
  // limit, 400 not understood.
  using Fields = std::vector<std::pair<std::string_view, std::string>>;
  [[nodiscard]] unsigned judge(std::string_view body, std::string& out, Fields& fields);

 private:
  class Reader;

  Desk& desk_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace weir::door
