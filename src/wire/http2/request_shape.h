// What HTTP asks of the header fields of a request together, and of its body (RFC 9113, 8.1 and 8.3). Each step is
// false if the request is malformed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/http2/field_finding.h"

namespace weir::wire::http2 {

class RequestShape {
 public:
  // Also of trailers, which are not to say again what the head has said.
  [[nodiscard]] bool add(const FieldFinding& found) noexcept {
    using Mark = FieldFinding;
    constexpr unsigned once =
        Mark::method | Mark::scheme | Mark::authority | Mark::path | Mark::host | Mark::content_length;
    if (found.malformed || (marks_ & found.marks & once) != 0) return false;
    if ((marks_ & Mark::regular) != 0 && (found.marks & Mark::regular) == 0) return false;
    marks_ |= found.marks;
    if ((found.marks & Mark::content_length) != 0) length_ = found.length;
    return true;
  }

  [[nodiscard]] bool end_head() noexcept {
    using Mark = FieldFinding;
    marks_ |= Mark::regular;
    if (has(Mark::connect)) {
      marks_ &= ~unsigned{Mark::content_length};  // a tunnel has no length
      return has(Mark::authority) && !has(Mark::scheme) && !has(Mark::path);
    }
    if (!has(Mark::method) || !has(Mark::scheme) || !has(Mark::path)) return false;
    if (!has(Mark::authority) && !has(Mark::host)) return false;
    return !has(Mark::of_the_web) || has(Mark::rooted) || (has(Mark::options) && has(Mark::asterisk));
  }

  [[nodiscard]] bool add_body(std::size_t size) noexcept {
    received_ += size;
    return !has(FieldFinding::content_length) || received_ <= length_;
  }

  [[nodiscard]] bool end_body() const noexcept { return !has(FieldFinding::content_length) || received_ == length_; }

 private:
  [[nodiscard]] bool has(FieldFinding::Mark mark) const noexcept { return (marks_ & mark) != 0; }

  unsigned marks_ = 0;
  std::uint64_t length_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace weir::wire::http2
