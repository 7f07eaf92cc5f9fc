// The groups that one evaluation of the script decides: written as one command, answered from one reply.
//
//   batch.clear();
//   while (batch.add(group)) ...                // false: add it to the next batch
//   batch.write(out);
//   ... a reply comes ...
//   if (!batch.read(reply)) fail(batch.members());
//
// Redis decides and the node replays: the script returns the states it read and how many groups it admitted. The node
// decides the same groups again, with the core, on those states. Every number in an answer is the core's, and a script
// with a different result is detected.
//
// Invariants:
//  1. Groups are decided in the order in which they were added.
//  2. Equal groups are folded into one evaluation, unless another group came between them on one of their keys.
//  3. Nothing is allocated once the largest batch has been seen, except for logs.
//
// Does not use sockets. Not thread-safe. The caller must ensure that one server may use all keys of a batch together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "store/store.h"
#include "wire/resp/reply_parser.h"

namespace weir::store::redis {

class ScriptBatch {
 public:
  // The maximum size. An empty batch has room for any group.
  static constexpr std::size_t max_keys = 512;
  static constexpr std::size_t max_members = 4096;

  enum class Form : std::uint8_t {
    by_digest,    // EVALSHA: rejected with NOSCRIPT, without effect, if the script is unknown
    with_source,  // EVAL: also loads the script
  };

  ScriptBatch();
  ~ScriptBatch();
  ScriptBatch(ScriptBatch&&) noexcept;
  ScriptBatch& operator=(ScriptBatch&&) noexcept;

  void clear() noexcept;

  // Returns false if there is no room, or if the group cannot be decided together with the others: then it is not
  // added. Otherwise it must stay unchanged until the batch is read or cleared.
  [[nodiscard]] bool add(Group& group);

  [[nodiscard]] bool empty() const noexcept { return groups() == 0; }
  [[nodiscard]] std::size_t groups() const noexcept;
  [[nodiscard]] std::size_t evaluations() const noexcept;  // after folding
  [[nodiscard]] std::size_t keys() const noexcept;         // distinct
  [[nodiscard]] std::span<Group* const> members() const noexcept;

  // The key by which a cluster finds the server. The batch must not be empty.
  [[nodiscard]] std::string_view first_key() const noexcept;

  // Appends one command. May be called again if the server reports that it did not execute the command.
  void write(std::string& out, Form form = Form::by_digest) const;

  // Fills in the answers, `admitted`, `now` and `failure` (none or disagreement) of all groups. Returns false, and
  // leaves the groups unchanged, if the reply is not from the script, for example an error.
  [[nodiscard]] bool read(const wire::resp::Reply& reply);

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace weir::store::redis
