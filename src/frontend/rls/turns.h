// Work of one loop that may take long, done in turns: one piece in every round of the loop, so that what others sent is
// served in between, however many sessions have such work. On the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "net/loop.h"

namespace weir::frontend {

class Turns {
 public:
  // Called once in a round, after all that wait before it; again for as long as it returns true.
  using Piece = std::function<bool()>;

  // The loop stays longer than this object. What has not run when the loop stops is dropped.
  void add(net::Loop& loop, Piece piece) {
    queue_->push_back(std::move(piece));
    if (queue_->size() == 1) post(loop, queue_);
  }

 private:
  using Queue = std::deque<Piece>;

  static void post(net::Loop& loop, const std::shared_ptr<Queue>& queue) {
    loop.post([&loop, queue] {
      // Its place stays until it is done: what it adds does not post again.
      Piece piece = std::move(queue->front());
      if (piece()) queue->push_back(std::move(piece));
      queue->pop_front();
      if (!queue->empty()) post(loop, queue);
    });
  }

  const std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace weir::frontend
