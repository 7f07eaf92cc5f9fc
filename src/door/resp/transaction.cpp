#include "door/resp/transaction.h"

namespace weir::door {

bool Transaction::add(Arguments command) {
  if (spoilt_) return true;
  std::size_t bytes = bytes_.size() + (ends_.size() + command.size()) * sizeof(std::uint32_t);
  for (const std::string_view argument : command) bytes += argument.size();
  if (bytes > most_bytes_ || counts_.size() == most_commands) {
    spoil();
    return false;
  }
  for (const std::string_view argument : command) {
    bytes_ += argument;
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  counts_.push_back(static_cast<std::uint32_t>(command.size()));
  return true;
}

void Transaction::spoil() noexcept {
  spoilt_ = true;
  std::string().swap(bytes_);
  std::vector<std::uint32_t>().swap(ends_);
  std::vector<std::uint32_t>().swap(counts_);
}

Transaction::Arguments Transaction::current() {
  current_.clear();
  for (std::size_t i = next_argument_; i < next_argument_ + counts_[next_]; ++i) {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    current_.push_back(bytes().substr(begin, ends_[i] - begin));
  }
  return current_;
}

void Transaction::advance() noexcept {
  next_argument_ += counts_[next_++];
}

}  // namespace weir::door
