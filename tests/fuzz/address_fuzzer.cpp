// Parses addresses from any bytes: an accepted address parses the same with a port, in brackets and as its own
// text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "text/address.h"

namespace {

using weir::text::Address;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plain = Address::parse(text);
  const auto endpoint = Address::parse_endpoint(text);
  if (plain) require(endpoint == plain);
  if (!endpoint) return 0;
  require(!text.empty());
  const std::string written = endpoint->text();
  require(Address::parse(written) == endpoint);
  require(Address::parse_endpoint("[" + written + "]") == endpoint);
  require(Address::parse_endpoint("[" + written + "]:443") == endpoint);
  if (endpoint->family == Address::Family::v4) require(Address::parse_endpoint(written + ":443") == endpoint);
  require(!Address::parse_endpoint(written + " ") && !Address::parse_endpoint(" " + written));
  return 0;
}
