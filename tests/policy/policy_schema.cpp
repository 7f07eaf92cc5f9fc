// Prints the JSON Schema of policy.yaml, for schema_test.py.
#include <fmt/core.h>

#include "policy/tools/starter.h"

int main() {
  fmt::print("{}", weir::policy::schema());
}
