// Parses messages of the rate limit service from any bytes: what is accepted round-trips.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/protobuf.h"
#include "wire/rls.h"

namespace {

using namespace weir::wire;

void require(bool holds) {
  if (!holds) std::abort();
}

void append_descriptor(std::string& out, const rls::RateLimitRequest& request, const rls::Descriptor& descriptor) {
  for (const rls::Entry& entry : request.entries_of(descriptor)) {
    protobuf::append_message(out, 1, [&] {
      protobuf::append_bytes(out, 1, entry.key);
      protobuf::append_bytes(out, 2, entry.value);
    });
  }
  if (descriptor.limit) {
    protobuf::append_message(out, 2, [&] {
      protobuf::append_number(out, 1, descriptor.limit->requests_per_unit);
      protobuf::append_number(out, 2, descriptor.limit->unit);
    });
  }
  if (descriptor.hits_addend) {
    protobuf::append_message(out, 3, [&] { protobuf::append_number(out, 1, *descriptor.hits_addend); });
  }
  if (descriptor.is_negative_hits) protobuf::append_number(out, 4, 1);
}

std::string written(const rls::RateLimitRequest& request) {
  std::string out;
  protobuf::append_bytes(out, 1, request.domain());
  for (const rls::Descriptor& descriptor : request.descriptors()) {
    protobuf::append_message(out, 2, [&] { append_descriptor(out, request, descriptor); });
  }
  protobuf::append_number(out, 3, request.hits_addend());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65'536) return 0;
  const std::string input(data, data + size);
  rls::RateLimitRequest request;
  if (!request.read(input)) return 0;
  require(request.descriptors().size() <= rls::RateLimitRequest::max_descriptors);
  const std::string once = written(request);
  rls::RateLimitRequest again;
  require(again.read(once));
  require(written(again) == once);
  return 0;
}
