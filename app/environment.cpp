#include "app/environment.h"

#include <cstdlib>
#include <string>

namespace weir::app {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return value == nullptr ? std::string() : value;
}

}  // namespace

server::Environment environment() {
  return {variable("STATE_DIRECTORY"), variable("XDG_STATE_HOME"), variable("HOME"), variable("WEIR_CONFIG"),
          variable("WEIR_POLICY")};
}

}  // namespace weir::app
