// Finds the limits that cover a request by method and path: a tree of segments, built once from all routes of a policy,
// immutable, shared by all threads.
//
// A limit covers a request if any of its routes matches. For each such limit the tree returns the *most specific*
// matching route: segment by segment a literal before a parameter before a `**`, then a route with a method before one
// without (and for HEAD, HEAD before GET).
//
// A plain path (match/path.h) is one walk down. `/a/{x}` and `/{y}/b` both match `/a/b`, so where a node has both,
// literal and parameter are followed. Every node is one prefix and is visited at most once; a walk visits at most
// min(nodes, 2^segments) nodes, and in practice as many as the path has segments. The policy alone determines the
// routes, so no request can exceed that.
//
// An ambiguous path is walked with a set of states, one for each node that some reading has reached. With more than
// `max_states` at once, or if the path is unreadable, every limit with a route of that method covers the request,
// through each of its routes if they count separately: over-matching affects only the sender, under-matching would let
// it bypass a limit. So a match takes at most max_pieces x max_states steps, or one for each route, whatever is sent.
//
// Lookups use one flat hash table, keyed by (parent, segment): a node is half a cache line, and the work is the same
// for ten routes as for ten thousand. Literals are interned. Matching never allocates.
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
  bool counts_apart = false;  // has a counter separate from the other routes of its limit
};

inline constexpr std::uint32_t no_route = UINT32_MAX;

struct RouteMatch {
  std::uint32_t limit = 0;
  std::uint32_t route = no_route;  // index of the entry; no_route: covered by an unknown route

  bool operator==(const RouteMatch&) const = default;
};

class RouteTree;

// The matches of one request, with room for all routes of the tree. Reusable, not thread-safe.
class Matches {
 public:
  explicit Matches(const RouteTree& tree);

  // Grouped by limit. A plain path has one match for each limit. An ambiguous path can match several routes of one
  // limit, most specific first. The server may see any of them, so the caller must charge the highest cost.
  [[nodiscard]] std::span<const RouteMatch> all() const noexcept { return {found_.data(), count_}; }

  // True if each reading of the path matches a route of the limit. False for an unreadable path.
  [[nodiscard]] bool in_every_reading(std::uint32_t limit) const noexcept;

  // The most specific of all routes, for labels; no_route if there is none or it is unknown.
  [[nodiscard]] std::uint32_t label() const noexcept { return label_; }

 private:
  friend class RouteTree;

  void clear() noexcept;
  void next_state() noexcept;
  void add_best(RouteMatch match, std::uint32_t rank, std::span<const std::uint32_t> ranks) noexcept;
  void add_first(RouteMatch match, std::uint32_t rank) noexcept;
  void offer_label(RouteMatch match, std::uint32_t rank) noexcept;

  std::vector<RouteMatch> found_;
  std::vector<std::uint32_t> slot_of_limit_;  // index in found_; valid only if that entry belongs to the limit
  std::vector<std::uint32_t> slot_of_route_;
  std::vector<std::uint64_t> state_of_limit_;   // the state in which a route of the limit was last found
  std::vector<std::uint32_t> states_of_limit_;  // the number of such states of that request
  std::uint64_t state_ = 0;
  std::uint64_t first_state_ = 0;  // the first state of this request; lower numbers are from earlier requests
  bool unreadable_ = false;
  std::size_t count_ = 0;
  std::uint32_t label_ = no_route;
  std::uint32_t label_rank_ = UINT32_MAX;
};

class RouteTree {
 public:
  static constexpr std::size_t max_states = 64;

  [[nodiscard]] static RouteTree build(std::span<const RouteEntry> entries);

  // Methods are compared in upper case. A method that is empty or not a token matches all routes; a method that no
  // route names matches only routes without a method. `out` must have been made for this tree.
  void match(std::string_view method, const PathReading& path, Matches& out) const noexcept;

  [[nodiscard]] std::size_t routes() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::size_t limits() const noexcept { return limits_; }

 private:
  friend class RouteTreeBuilder;

  RouteTree() = default;

  static constexpr std::uint32_t none = UINT32_MAX;

  // Nodes of literals are in the slot of the hash of (parent, text). The root and parameter nodes follow all slots.
  struct alignas(32) Node {
    std::uint32_t parent = none;  // none: the root, or an empty slot
    std::uint32_t tag = 0;        // part of the text's hash
    std::uint32_t text = 0;       // offset in texts_
    std::uint16_t length = 0;     // length of the text; 0 if not a literal
    std::uint16_t filter = 0;     // Bloom filter of the literals below: avoids most failing lookups
    std::uint32_t parameter = none;
    std::uint32_t first = 0;  // index of its terminals: routes that end here, then routes with `**` here
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

  // The methods of routes that a request's method matches, besides `any`.
  struct MethodFilter {
    std::uint16_t own = unknown_method;
    std::uint16_t get = unknown_method;  // set for HEAD, which GET routes match too
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
  [[nodiscard]] std::size_t after(std::size_t slot) const noexcept;
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
  std::size_t slots_ = 0;  // number of slots for literals
  std::uint32_t root_ = 0;
  std::string texts_;
  std::vector<Terminal> terminals_;
  std::vector<Terminal> everything_;  // one per (limit, method), or per route where routes count separately
  std::vector<std::uint32_t> ranks_;  // rank of each entry; lower is more specific
  std::vector<Method> methods_;       // the methods that routes name, numbered from 1
  std::size_t limits_ = 0;
};

}  // namespace weir::match
