// POST /json: a RateLimitRequest of Envoy's in protobuf's JSON, answered as envoyproxy/ratelimit does.
// docs/protocols.md, "Descriptors in JSON", has an example.
//
// All that protobuf's JSON takes: names in either case (hitsAddend, hits_addend), null for a missing value, numbers as
// 2, 2.0 or "2", a unit by its name or number. Unknown and duplicate fields are errors.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "answer/answer.h"
#include "frontend/batch_memory.h"
#include "match/descriptors.h"
#include "weir/result.h"

namespace weir::frontend {

// The descriptors of one request, as they were sent: at most table::max_group_size.
struct DescriptorRequest {
  std::string_view domain;
  std::span<const match::DescriptorQuery> asks;
};

// One per loop.
class DescriptorsReader {
 public:
  DescriptorsReader();
  ~DescriptorsReader();
  DescriptorsReader(const DescriptorsReader&) = delete;
  DescriptorsReader& operator=(const DescriptorsReader&) = delete;

  // What the request views is in `memory`.
  [[nodiscard]] Result<DescriptorRequest> read(std::string_view body, BatchMemory& memory);

 private:
  class Parsing;
  std::unique_ptr<Parsing> parsing_;
};

// Appends the body of the answer.
void append_descriptors(std::string& out, const answer::DescriptorVerdict& verdict);

}  // namespace weir::frontend
