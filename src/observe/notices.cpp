#include "observe/notices.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::observe {

std::string_view name_of(Notice::Kind kind) noexcept {
  constexpr std::array<std::string_view, 6> names{"start", "reload", "store", "overflow", "spike", "change"};
  return names[static_cast<std::size_t>(kind)];
}

void Notices::add(Notice notice) {
  if (notice.message.size() > max_message_size) {
    // The end must not split a UTF-8 character.
    std::size_t end = max_message_size;
    while (end > 0 && (static_cast<unsigned char>(notice.message[end]) & 0xC0U) == 0x80U) --end;
    notice.message.resize(end);
    notice.message += "...";
  }
  const std::lock_guard guard(mutex_);
  notice.id = ++last_id_;
  notices_.push_back(std::move(notice));
  if (notices_.size() > max_notices) notices_.pop_front();
}

std::vector<Notice> Notices::newest(std::size_t count) const {
  const std::lock_guard guard(mutex_);
  const auto first = notices_.rbegin();
  return {first, first + static_cast<std::ptrdiff_t>(std::min(count, notices_.size()))};
}

std::vector<Notice> Notices::after(std::uint64_t id) const {
  const std::lock_guard guard(mutex_);
  const auto first = std::ranges::upper_bound(notices_, id, {}, &Notice::id);
  return {first, notices_.end()};
}

}  // namespace weir::observe
