// The API keys of an OpenAPI document that come in a header.
#pragma once

#include <string>
#include <vector>

#include "policy/mark.h"
#include "policy/problem.h"
#include "policy/spec.h"
#include "policy/yaml/document.h"

namespace weir::policy::openapi {

// A security scheme of the type apiKey in a header.
struct HeaderScheme {
  Written<std::string> name;  // of the scheme
  std::string header;         // as it is written
};

// Schemes that cannot be read are left out: what is wrong with them is not ours to say.
[[nodiscard]] std::vector<HeaderScheme> header_schemes(const yaml::Node& root);

// Where the document does not say who is calling: from the header of its only such scheme.
void take_api_key(const std::vector<HeaderScheme>& schemes, Identity& identity);

// Warns of each whose header `identity` does not read: a limit by api_key would not see who calls with it.
void warn_of_unread(const std::vector<HeaderScheme>& schemes, const Identity& identity, Problems& problems);

}  // namespace weir::policy::openapi
