// A question to the HTTP listener that the policy in force has something to say about: for those who try it first.
#pragma once

#include <string>

#include "match/matcher.h"

namespace weir::server {

struct ExampleRequest {
  std::string path;  // of the listener: /v1/check, or /json for descriptors
  std::string body;  // JSON
};

// Where no limit can be reached without knowing more (a header's value), any request.
[[nodiscard]] ExampleRequest example_request(const match::Matcher& matcher);

}  // namespace weir::server
