// Parses HTTP/1.1 requests from any bytes: the result does not depend on how they are split; accepted requests are
// within the limits, have one length, and round-trip.
//
// The first byte selects the limits and the size of the pieces; the rest is the input of a connection.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "tests/wire/http1_conversation.h"
#include "wire/http1/lines.h"

namespace {

using namespace weir::wire::http1;
using weir::base::equals_name;
using weir::base::trimmed;

constexpr Limits usual{};
constexpr Limits tight{.head_bytes = 160, .headers = 4, .target_bytes = 24, .body_bytes = 48};

void require(bool holds) {
  if (!holds) std::abort();
}

void require_bounds(const Seen& seen, const Limits& limits) {
  require(!seen.method.empty() && token_bytes.run(seen.method) == seen.method.size());
  require(!seen.target.empty() && seen.target.size() <= limits.target_bytes);
  require(seen.target.find_first_of(std::string_view{" \t\r\n\0", 5}) == std::string::npos);
  require(seen.headers.size() <= limits.headers && seen.body.size() <= limits.body_bytes);
  std::size_t hosts = 0;
  std::size_t framings = 0;
  for (const auto& [name, value] : seen.headers) {
    require(!name.empty() && token_bytes.run(name) == name.size());
    require(std::none_of(value.begin(), value.end(), is_control));
    require(trimmed(value) == value);
    if (equals_name(name, "host")) ++hosts;
    if (equals_name(name, "transfer-encoding")) ++framings;
    if (equals_name(name, "content-length")) {
      ++framings;
      require(!value.empty() && value.find_first_not_of("0123456789") == std::string::npos);
      require(std::stoul(value) == seen.body.size());
    }
  }
  require(hosts == 1 || (hosts == 0 && seen.version == Version::http_1_0));
  require(framings == 1 || (framings == 0 && seen.body.empty()));
}

std::string written(const Seen& seen) {
  std::string bytes = seen.method + ' ' + seen.target;
  bytes += seen.version == Version::http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
  bool is_chunked = false;
  for (const auto& [name, value] : seen.headers) {
    bytes += name;
    bytes += ':';
    bytes += value + "\r\n";
    is_chunked = is_chunked || equals_name(name, "transfer-encoding");
  }
  bytes += "\r\n";
  if (!is_chunked) return bytes + seen.body;
  for (const char c : seen.body) bytes += std::string("1\r\n") + c + "\r\n";
  return bytes + "0\r\n\r\n";
}

void require_reads_back(const Seen& seen) {
  if (seen.body.size() > 1000) return;  // larger bodies in chunks of one byte are rejected
  Conversation again;
  again.receive(written(seen));
  require(again.requests().size() == 1 && again.requests().front() == seen && again.unconsumed() == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Limits& limits = (data[0] & 1U) != 0 ? tight : usual;
  const std::size_t piece = 2 + data[0] / 2U;
  const std::string bytes(data + 1, data + size);

  Conversation whole(limits);
  whole.receive(bytes);
  Conversation pieces(limits);
  for (std::size_t at = 0; at < bytes.size(); at += piece) pieces.receive(std::string_view(bytes).substr(at, piece));
  require(pieces == whole || bytes.empty());
  if (bytes.size() <= 8192) {  // the cost is quadratic
    Conversation slow(limits);
    slow.receive_one_by_one(bytes);
    require(slow == whole || bytes.empty());
  }

  for (const Seen& seen : whole.requests()) {
    require_bounds(seen, limits);
    require_reads_back(seen);
  }
  if (!whole.fault()) require(whole.unconsumed() <= limits.max_request_size());
  if (whole.fault())
    require(status_of(*whole.fault()) >= 400 && status_of(*whole.fault()) < 500 && !text_of(*whole.fault()).empty());
  return 0;
}
