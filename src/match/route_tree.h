// From a request's method and path to the limits that cover it: a tree of segments, built once from all the
// routes of a policy, immutable, shared by all threads.
//
// A limit covers a request if any of its routes matches. For each such limit the tree gives the *most specific*
// route that matches: segment by segment a literal before a parameter before a `**`, then a route with a method
// before one without (and for HEAD, HEAD before GET).
//
// A plain path (match/path.h) is one walk down. `/a/{x}` and `/{y}/b` both match `/a/b`, so where a node has both,
// literal and parameter are followed. Every node stands for one prefix and is visited at most once; a walk visits
// at most min(nodes, 2^segments) of them, and in practice as many as the path has segments. Which routes exist is
// the policy's choice alone: no request can make it take longer than that.
//
// An ambiguous path is a walk with a set of states, one for each place in the tree that some reading has led to.
// With more than `max_states` at once, or if the path is unreadable, every limit with a route of that method is
// taken to cover the request, by each of its routes where those count apart: over-matching costs the sender,
// under-matching would be an escape. So a match takes at most max_pieces x max_states steps, or one for each route,
// whatever is sent.
//
// Look-ups go to one flat table, keyed by (parent, segment): a node is half a cache line, and the same size of
// work for ten routes as for ten thousand. Literals are interned. Matching never allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "match/path.h"
#include "policy/route_template.h"

namespace weir::match {

struct RouteEntry {
  policy::RouteTemplate route;
  std::uint32_t limit = 0;    // any numbering, from 0 and without large gaps
  bool counts_apart = false;  // from the other routes of its limit
};

inline constexpr std::uint32_t no_route = UINT32_MAX;

struct RouteMatch {
  std::uint32_t limit = 0;
  std::uint32_t route = no_route;  // index of the entry; no_route: covered, but by which route cannot be said

  bool operator==(const RouteMatch&) const = default;
};

class RouteTree;

// What one request matches: room for all that a tree can give, made once and used again, by one thread.
class Matches {
 public:
  explicit Matches(const RouteTree& tree);

  // Grouped by limit. A plain path has one match for each limit. A path with several readings can match several
  // routes of one limit, most specific first: each of them may be what the server sees, so the dearest is to be
  // charged.
  [[nodiscard]] std::span<const RouteMatch> all() const noexcept { return {found_.data(), count_}; }

  // Whether each reading of the path matches a route of the limit. Never of a path that cannot be read.
  [[nodiscard]] bool in_every_reading(std::uint32_t limit) const noexcept;

  // The most specific of all routes, for labels; no_route if there is none, or it cannot be said.
  [[nodiscard]] std::uint32_t label() const noexcept { return label_; }

 private:
  friend class RouteTree;

  void clear() noexcept;
  void next_state() noexcept;
  void add_best(RouteMatch match, std::uint32_t rank, std::span<const std::uint32_t> ranks) noexcept;
  void add_first(RouteMatch match, std::uint32_t rank) noexcept;
  void offer_label(RouteMatch match, std::uint32_t rank) noexcept;

  std::vector<RouteMatch> found_;
  std::vector<std::uint32_t> place_of_limit_;  // in found_, if that is the limit's place indeed
  std::vector<std::uint32_t> place_of_route_;
  std::vector<std::uint64_t> state_of_limit_;   // in which state a route of the limit was last found,
  std::vector<std::uint32_t> states_of_limit_;  // and in how many states of that request
  std::uint64_t state_ = 0;
  std::uint64_t first_state_ = 0;  // of this request: those before it were an earlier one's
  bool unreadable_ = false;
  std::size_t count_ = 0;
  std::uint32_t label_ = no_route;
  std::uint32_t label_rank_ = UINT32_MAX;
};

class RouteTree {
 public:
  static constexpr std::size_t max_states = 64;

  [[nodiscard]] static RouteTree build(std::span<const RouteEntry> entries);

  // Methods are compared in upper case. A method that is empty or not a token may be any; one that no route names
  // matches the routes without a method only. `out` must have been made for this tree.
  void match(std::string_view method, const PathReading& path, Matches& out) const noexcept;

  [[nodiscard]] std::size_t routes() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::size_t limits() const noexcept { return limits_; }

 private:
  friend class RouteTreeBuilder;

  RouteTree() = default;

  static constexpr std::uint32_t none = UINT32_MAX;

  // A literal's node lies where the hash of (parent, text) puts it; the root and the parameters' nodes lie behind.
  struct alignas(32) Node {
    std::uint32_t parent = none;  // none: the root, or not in use
    std::uint32_t tag = 0;        // of the text's hash
    std::uint32_t text = 0;       // where in texts_
    std::uint16_t length = 0;     // of the text; 0: no literal
    std::uint16_t filter = 0;     // a bit for each literal below, by its hash: spares most vain look-ups
    std::uint32_t parameter = none;
    std::uint32_t first = 0;  // of its terminals: those of routes that end here, then of those with `**` here
    std::uint32_t ends = 0;
    std::uint32_t wildcards = 0;
  };

  // A route that ends at a node, one per entry.
  struct Terminal {
    RouteMatch match;
    std::uint32_t rank = 0;
    std::uint16_t method = 0;
  };

  static constexpr std::uint16_t any_method = 0;
  static constexpr std::uint16_t unknown_method = UINT16_MAX;

  struct Method {
    std::uint64_t hash = 0;
    std::string name;
  };

  // The methods of the routes that a request's method fits, beside `any`.
  struct MethodFilter {
    std::uint16_t own = unknown_method;
    std::uint16_t get = unknown_method;  // for HEAD
    bool all = false;

    [[nodiscard]] bool admits(std::uint16_t method) const noexcept {
      return method == any_method || method == own || method == get || all;
    }
  };

  struct State {
    std::uint32_t node = 0;
    std::uint32_t beyond = 0;  // segments below the node for which the tree has no child

    bool operator==(const State&) const = default;
  };
  class States;

  [[nodiscard]] MethodFilter filter_for(std::string_view method) const noexcept;
  [[nodiscard]] std::uint16_t number_of(std::string_view method) const noexcept;
  [[nodiscard]] std::uint32_t find_literal(std::uint32_t parent, const Piece& piece) const noexcept;
  [[nodiscard]] std::size_t home(std::uint32_t parent, std::uint64_t hash) const noexcept;
  [[nodiscard]] std::size_t after(std::size_t place) const noexcept;
  [[nodiscard]] static std::uint16_t filter_bit(std::uint64_t hash) noexcept;
  [[nodiscard]] std::span<const Terminal> ends_of(const Node& node) const noexcept;
  [[nodiscard]] std::span<const Terminal> wildcards_of(const Node& node) const noexcept;

  void match_plain(const PathReading& path, MethodFilter filter, Matches& out) const noexcept;
  [[nodiscard]] bool match_ambiguous(const PathReading& path, MethodFilter filter, Matches& out) const noexcept;
  void match_everything(MethodFilter filter, Matches& out) const noexcept;

  [[nodiscard]] bool advance(const States& from, const Piece& piece, States& to) const noexcept;
  void add_consumed(State state, const Piece& piece, States& to) const noexcept;
  void add_joined(State state, States& to) const noexcept;
  void accept(const States& states, MethodFilter filter, Matches& out) const noexcept;

  std::vector<Node> nodes_;
  std::size_t places_ = 0;  // of literals
  std::uint32_t root_ = 0;
  std::string texts_;
  std::vector<Terminal> terminals_;
  std::vector<Terminal> everything_;  // one for each (limit, method), or for each route where those count apart
  std::vector<std::uint32_t> ranks_;  // of each entry: the lower, the more specific
  std::vector<Method> methods_;       // from number 1 on
  std::size_t limits_ = 0;
};

}  // namespace weir::match
