// An address without its end, for logs: 203.0.113.0/24, 2001:db8:1::/48. It says which network, not who.
#pragma once

#include <string>

#include "policy/address.h"

namespace weir::observe {

[[nodiscard]] std::string truncated(const policy::Address& address);

}  // namespace weir::observe
