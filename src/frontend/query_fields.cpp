#include "frontend/query_fields.h"

#include "text/address.h"

namespace weir::frontend {

Result<void> validate_path(std::string_view path) {
  if (path.find_first_of("?#") != 0 && !path.empty()) return {};
  return failure("path", "must not be empty: send the path of the request, such as /login, or omit the field for /");
}

Result<void> validate_address(std::string_view address) {
  if (address.empty() || text::Address::parse_endpoint(address)) return {};
  return failure("ip", "not an IP address: send one such as 192.0.2.7 or [2001:db8::7]:443, or omit the field");
}

}  // namespace weir::frontend
