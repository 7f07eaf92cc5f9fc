// A question to the HTTP door that the policy in force has something to say about: for those who try it first.
#pragma once

#include <string>

#include "engine/plan.h"

namespace weir::server {

struct ExampleRequest {
  std::string path;  // of the door: /v1/check, or /json for descriptors
  std::string body;  // JSON
};

// Where no limit can be reached without knowing more (a header's value), any request.
[[nodiscard]] ExampleRequest example_request(const engine::Plan& plan);

}  // namespace weir::server
