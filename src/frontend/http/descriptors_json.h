// Reads and writes the JSON of POST /json: Envoy's RateLimitRequest in protobuf's JSON, answered like
// envoyproxy/ratelimit. docs/reference-rls.md has an example.
//
// Accepts everything that protobuf's JSON allows: names in either case (hitsAddend, hits_addend), null for a missing
// value, numbers as 2, 2.0 or "2", a unit by name or number. Unknown and duplicate fields are errors.
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

// The descriptors of one request, in the order sent; at most table::max_group_size.
struct DescriptorRequest {
  std::string_view domain;
  std::span<const match::DescriptorQuery> queries;
};

// Not thread-safe: each loop has its own.
class DescriptorsReader {
 public:
  DescriptorsReader();
  ~DescriptorsReader();
  DescriptorsReader(const DescriptorsReader&) = delete;
  DescriptorsReader& operator=(const DescriptorsReader&) = delete;

  // The request refers to texts in `memory`.
  [[nodiscard]] Result<DescriptorRequest> read(std::string_view body, BatchMemory& memory);

 private:
  class Parsing;
  std::unique_ptr<Parsing> parsing_;
};

// Appends the body of the response.
void append_descriptors(std::string& out, const answer::DescriptorVerdict& verdict);

}  // namespace weir::frontend
