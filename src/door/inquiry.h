// A hearing that a session waits for, used again and again. When it is closed or gone, nobody waits any more.
//
//   engine::Hearing& hearing = inquiry.open();
//   hearing.add(query); ...
//   inquiry.begin(link);
//   if (inquiry.waiting()) out.pause();   // on_resume comes when it is over, and perhaps before
//   else answer(inquiry.heard());
//   inquiry.close();
#pragma once

#include <memory>

#include "door/desk.h"
#include "engine/hearing.h"
#include "net/link.h"

namespace weir::door {

class Inquiry {
 public:
  explicit Inquiry(Desk& desk) noexcept : desk_(desk) {}
  ~Inquiry() { close(); }
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;

  // To add questions to: at least one.
  [[nodiscard]] engine::Hearing& open();

  // The link is resumed when it is over, unless it is so at once.
  void begin(const net::Link& link);
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  [[nodiscard]] bool waiting() const noexcept { return begun_ && !hearing_->over(); }

  // When it is over.
  [[nodiscard]] const engine::Hearing& heard() const noexcept { return *hearing_; }

  void close() noexcept;

 private:
  Desk& desk_;
  std::shared_ptr<engine::Hearing> hearing_;  // null: none yet
  bool begun_ = false;
};

}  // namespace weir::door
