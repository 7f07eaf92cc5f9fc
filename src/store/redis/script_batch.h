// The groups that one evaluation of the script decides: written as one command, answered from one reply.
//
//   batch.clear();
//   while (batch.add(group)) ...                // false: it belongs into the next one
//   batch.write(out);
//   ... a reply comes ...
//   if (!batch.read(reply)) fail(batch.members());
//
// Redis decides, the node replays: the script says what the states were and how many it admitted. The same groups are
// decided again here, by the core, on those states. So every number in an answer is the core's, and a script that
// came to another result is found out.
//
// Invariants:
//  1. The groups are decided in the order in which they were added.
//  2. Equal groups are folded into one evaluation, unless another group came between them on one of their keys.
//  3. Nothing is allocated once the largest batch has been seen, but for logs.
//
// Knows no sockets. Used on one thread. All keys of a batch have to lie where one server may use them together: see to
// that before add.
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
  // What a batch holds at most. An empty one has room for any group.
  static constexpr std::size_t max_keys = 512;
  static constexpr std::size_t max_members = 4096;

  enum class Form : std::uint8_t {
    by_digest,    // EVALSHA: refused with NOSCRIPT, and nothing done, where the script is not known
    with_source,  // EVAL: makes it known
  };

  ScriptBatch();
  ~ScriptBatch();
  ScriptBatch(ScriptBatch&&) noexcept;
  ScriptBatch& operator=(ScriptBatch&&) noexcept;

  void clear() noexcept;

  // False if there is no room, or if the group cannot be decided together with those that are there: then it is not in
  // it. Otherwise it stays, unchanged, until it is read or the batch cleared.
  [[nodiscard]] bool add(Group& group);

  [[nodiscard]] bool empty() const noexcept { return groups() == 0; }
  [[nodiscard]] std::size_t groups() const noexcept;
  [[nodiscard]] std::size_t evaluations() const noexcept;  // what is left of them by folding
  [[nodiscard]] std::size_t keys() const noexcept;         // different ones
  [[nodiscard]] std::span<Group* const> members() const noexcept;

  // By which a cluster finds the server. Not of an empty batch.
  [[nodiscard]] std::string_view first_key() const noexcept;

  // Appends one command. May be repeated, if the server says that it did not do it.
  void write(std::string& out, Form form = Form::by_digest) const;

  // Fills in the answers, `admitted`, `now` and `failure` (none, or disagreement) of all groups. False if the reply is
  // not one of the script's, an error for example: then the groups are as they were.
  [[nodiscard]] bool read(const wire::resp::Reply& reply);

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace weir::store::redis
