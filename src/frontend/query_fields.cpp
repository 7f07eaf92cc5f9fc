#include "frontend/query_fields.h"

#include "text/address.h"

namespace weir::frontend {

Result<void> check_path(std::string_view path) {
  if (path.find_first_of("?#") != 0 && !path.empty()) return {};
  return failure("path", "is empty: send the request's path, like /login, or leave the field out for /");
}

Result<void> check_address(std::string_view address) {
  if (address.empty() || text::Address::parse_endpoint(address)) return {};
  return failure(
      "ip", "is not an IP address: send the caller's, like 192.0.2.7 or [2001:db8::7]:443, or leave the field out");
}

}  // namespace weir::frontend
