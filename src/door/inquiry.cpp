#include "door/inquiry.h"

#include <cstddef>
#include <utility>

namespace weir::door {
namespace {

constexpr std::size_t usual_questions = 64;

}  // namespace

engine::Hearing& Inquiry::open() {
  if (!hearing_) hearing_ = desk_.judge().new_hearing();
  return *hearing_;
}

void Inquiry::begin(const net::Link& link) {
  begun_ = true;
  hearing_->begin([link] { link.resume(); });
}

void Inquiry::close() noexcept {
  if (!hearing_) return;
  const bool is_under_way = std::exchange(begun_, false) && !hearing_->over();
  if (is_under_way) hearing_->abandon();
  // One that is under way lives until the store has answered. One that was large is not kept for what is small.
  if (is_under_way || hearing_->size() > usual_questions) {
    hearing_.reset();
  } else {
    hearing_->clear();
  }
}

}  // namespace weir::door
