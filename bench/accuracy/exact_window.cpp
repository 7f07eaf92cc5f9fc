#include "accuracy/exact_window.h"

#include <algorithm>

namespace bench::accuracy {

void ExactWindow::admit(weir::Instant at) {
  while (!admitted_.empty() && admitted_.front() + window_ <= at) admitted_.pop_front();
  admitted_.push_back(at);
  worst_ = std::max(worst_, admitted_.size());
}

}  // namespace bench::accuracy
