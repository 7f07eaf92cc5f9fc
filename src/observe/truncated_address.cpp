#include "observe/truncated_address.h"

namespace weir::observe {

std::string truncated(const policy::Address& address) {
  const bool is_v6 = address.family == policy::Address::Family::v6;
  return address.network(is_v6 ? 48 : 24).text() + (is_v6 ? "/48" : "/24");
}

}  // namespace weir::observe
