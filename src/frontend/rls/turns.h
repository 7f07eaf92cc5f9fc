// Runs long work of one loop in turns, one piece per iteration of the loop, so that other requests are served in
// between. Used on the loop's thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "net/loop.h"

namespace weir::frontend {

class Turns {
 public:
  // Called when its turn comes, and again in later turns while it returns true.
  using Piece = std::function<bool()>;

  // The loop must outlive this object. Pieces that have not run when the loop stops are dropped.
  void add(net::Loop& loop, Piece piece) {
    queue_->push_back(std::move(piece));
    if (queue_->size() == 1) post(loop, queue_);
  }

 private:
  using Queue = std::deque<Piece>;

  static void post(net::Loop& loop, const std::shared_ptr<Queue>& queue) {
    loop.post([&loop, queue] {
      // The piece stays in the queue while it runs, so that a piece that it adds does not post again.
      Piece piece = std::move(queue->front());
      if (piece()) queue->push_back(std::move(piece));
      queue->pop_front();
      if (!queue->empty()) post(loop, queue);
    });
  }

  const std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

}  // namespace weir::frontend
