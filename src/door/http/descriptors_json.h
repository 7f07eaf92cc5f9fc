// POST /json: a RateLimitRequest of Envoy's in protobuf's JSON, answered as envoyproxy/ratelimit does:
//
//   {"domain": "mongo", "descriptors": [{"entries": [{"key": "database", "value": "users"}]}]}
//   {"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT","currentLimit":{"requestsPerUnit":500,
//    "unit":"SECOND"},"limitRemaining":0,"durationUntilReset":"1s"}]}
//
// All that protobuf's JSON takes: names in either case (hitsAddend, hits_addend), null for what is not there, numbers
// as 2, 2.0 or "2", a unit by its name or number. Fields that are not known, or there twice, are refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "door/descriptor_ruling.h"
#include "door/desk.h"
#include "door/question_arena.h"
#include "weir/result.h"

namespace weir::door {

// One per loop.
class DescriptorsJson {
 public:
  explicit DescriptorsJson(Desk& desk);
  ~DescriptorsJson();
  DescriptorsJson(const DescriptorsJson&) = delete;
  DescriptorsJson& operator=(const DescriptorsJson&) = delete;

  // What the question views is in `arena`.
  [[nodiscard]] Result<DescriptorQuestion> read(std::string_view body, QuestionArena& arena);

  // Writes the answer's body into `out`, and its header fields into `fields`.
  using Fields = std::vector<std::pair<std::string_view, std::string>>;
  void write(const DescriptorRuling& ruling, std::string& out, Fields& fields);

 private:
  class Reader;

  Desk& desk_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace weir::door
