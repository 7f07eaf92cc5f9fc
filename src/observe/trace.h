// By which a request is known elsewhere: what a proxy or a client sent for that, checked before it is written anywhere.
#pragma once

#include <string_view>

#include "match/query.h"

namespace weir::observe {

struct TraceIds {
  std::string_view trace_id{};    // of `traceparent` (W3C Trace Context): 32 hexadecimal digits
  std::string_view request_id{};  // of `x-request-id`: up to 128 letters, digits and -_.:=+/@
};

// Views into the query's headers; what is malformed or there twice is left out.
[[nodiscard]] TraceIds trace_ids(const match::Query& query) noexcept;

}  // namespace weir::observe
