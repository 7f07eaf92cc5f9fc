// A request to the HTTP listener that a limit of the active policy covers, for operators to try.
#pragma once

#include <optional>
#include <string>

#include "match/matcher.h"

namespace weir::server {

struct ExampleRequest {
  std::string path;  // /v1/check, or /json for descriptors
  std::string body;  // JSON
};

// Returns no value if it finds none.
[[nodiscard]] std::optional<ExampleRequest> example_request(const match::Matcher& matcher);

}  // namespace weir::server
