#include "match/route_tree.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "base/ascii.h"

namespace weir::match {

// The distinct nodes that the readings of a path have reached.
class RouteTree::States {
 public:
  void clear() noexcept { count_ = 0; }

  void add(State state) noexcept {
    if (std::find(begin(), end(), state) != end()) return;
    if (count_ == max_states) {
      too_many_ = true;
      return;
    }
    states_[count_++] = state;
  }

  [[nodiscard]] const State* begin() const noexcept { return states_.data(); }
  [[nodiscard]] const State* end() const noexcept { return states_.data() + count_; }
  [[nodiscard]] bool too_many() const noexcept { return too_many_; }

 private:
  std::array<State, max_states> states_;
  std::size_t count_ = 0;
  bool too_many_ = false;
};

Matches::Matches(const RouteTree& tree)
    : found_(tree.routes()),
      slot_of_limit_(tree.limits()),
      slot_of_route_(tree.routes()),
      state_of_limit_(tree.limits()),
      states_of_limit_(tree.limits()) {}

void Matches::clear() noexcept {
  count_ = 0;
  label_ = no_route;
  label_rank_ = UINT32_MAX;
  first_state_ = state_ + 1;
  unreadable_ = false;
}

bool Matches::in_every_reading(std::uint32_t limit) const noexcept {
  if (unreadable_ || limit >= state_of_limit_.size()) return false;
  if (state_ < first_state_) {  // a plain path has one reading and no states
    const std::uint32_t slot = slot_of_limit_[limit];
    return slot < count_ && found_[slot].limit == limit;
  }
  return state_of_limit_[limit] >= first_state_ && states_of_limit_[limit] == state_ - first_state_ + 1;
}

void Matches::next_state() noexcept {
  ++state_;
}

// Keeps the most specific route of each limit. A stale entry of an earlier request in slot_of_limit_ is recognised
// because it is out of range or refers to another limit.
void Matches::add_best(RouteMatch match, std::uint32_t rank, std::span<const std::uint32_t> ranks) noexcept {
  offer_label(match, rank);
  const std::uint32_t slot = slot_of_limit_[match.limit];
  if (slot < count_ && found_[slot].limit == match.limit) {
    if (rank < ranks[found_[slot].route]) found_[slot] = match;
    return;
  }
  slot_of_limit_[match.limit] = static_cast<std::uint32_t>(count_);
  found_[count_++] = match;
}

// Keeps the first route of each limit in this state, and each route once.
void Matches::add_first(RouteMatch match, std::uint32_t rank) noexcept {
  offer_label(match, rank);
  if (state_of_limit_[match.limit] == state_) return;
  if (state_of_limit_[match.limit] < first_state_) states_of_limit_[match.limit] = 0;
  ++states_of_limit_[match.limit];
  state_of_limit_[match.limit] = state_;
  const std::uint32_t slot = slot_of_route_[match.route];
  if (slot < count_ && found_[slot] == match) return;
  slot_of_route_[match.route] = static_cast<std::uint32_t>(count_);
  found_[count_++] = match;
}

void Matches::offer_label(RouteMatch match, std::uint32_t rank) noexcept {
  if (rank >= label_rank_) return;
  label_ = match.route;
  label_rank_ = rank;
}

void RouteTree::match(std::string_view method, const PathReading& path, Matches& out) const noexcept {
  assert(out.found_.size() == routes() && out.slot_of_limit_.size() == limits());
  out.clear();
  const MethodFilter filter = filter_for(method);
  switch (path.kind) {
    case PathReading::Kind::plain:
      match_plain(path, filter, out);
      break;
    case PathReading::Kind::ambiguous:
      if (match_ambiguous(path, filter, out)) break;
      [[fallthrough]];
    case PathReading::Kind::unreadable:
      match_everything(filter, out);
      break;
  }
}

RouteTree::MethodFilter RouteTree::filter_for(std::string_view method) const noexcept {
  if (method.empty()) return {.all = true};
  if (method.size() > policy::max_method_length) return {.all = !base::is_token(method)};
  std::array<char, policy::max_method_length> upper{};
  std::transform(method.begin(), method.end(), upper.begin(), base::to_upper);
  const std::string_view name(upper.data(), method.size());
  const std::uint16_t own = number_of(name);
  return {.own = own,
          .get = name == "HEAD" ? number_of("GET") : unknown_method,
          .all = own == unknown_method && !base::is_token(method)};
}

std::uint16_t RouteTree::number_of(std::string_view method) const noexcept {
  const std::uint64_t hash = segment_hash(method);
  for (std::size_t i = 0; i < methods_.size(); ++i) {
    if (methods_[i].hash == hash && methods_[i].name == method) return static_cast<std::uint16_t>(i + 1);
  }
  return unknown_method;
}

std::size_t RouteTree::home(std::uint32_t parent, std::uint64_t hash) const noexcept {
  const std::uint64_t mixed = (hash + parent) * 0x9E37'79B9'7F4A'7C15;
  return static_cast<std::size_t>((mixed >> 32) * slots_ >> 32);
}

std::size_t RouteTree::after(std::size_t slot) const noexcept {
  return slot + 1 == slots_ ? 0 : slot + 1;
}

std::uint16_t RouteTree::filter_bit(std::uint64_t hash) noexcept {
  return static_cast<std::uint16_t>(1U << (hash >> 60));
}

std::uint32_t RouteTree::find_literal(std::uint32_t parent, const Piece& piece) const noexcept {
  if ((nodes_[parent].filter & filter_bit(piece.hash)) == 0) return none;
  const auto tag = static_cast<std::uint32_t>(piece.hash);
  for (std::size_t i = home(parent, piece.hash);; i = after(i)) {
    const Node& node = nodes_[i];
    if (node.parent == none) return none;
    if (node.parent == parent && node.tag == tag && node.length == piece.text.size() &&
        std::memcmp(texts_.data() + node.text, piece.text.data(), node.length) == 0) {
      return static_cast<std::uint32_t>(i);
    }
  }
}

std::span<const RouteTree::Terminal> RouteTree::ends_of(const Node& node) const noexcept {
  return {terminals_.data() + node.first, node.ends};
}

std::span<const RouteTree::Terminal> RouteTree::wildcards_of(const Node& node) const noexcept {
  return {terminals_.data() + node.first + node.ends, node.wildcards};
}

// Follows literals down, then returns to the parameters that it passed: at most one per level.
void RouteTree::match_plain(const PathReading& path, MethodFilter filter, Matches& out) const noexcept {
  struct Position {
    std::uint32_t node;
    std::uint32_t depth;
  };
  std::array<Position, policy::max_route_segments> passed;
  std::size_t left = 0;
  const auto add = [&](std::span<const Terminal> terminals) {
    for (const Terminal& terminal : terminals) {
      if (filter.admits(terminal.method)) out.add_best(terminal.match, terminal.rank, ranks_);
    }
  };
  Position at{root_, 0};
  while (true) {
    const Node& node = nodes_[at.node];
    add(wildcards_of(node));
    std::uint32_t next = none;
    if (at.depth == path.pieces.size()) {
      add(ends_of(node));
    } else {
      if (node.parameter != none) {
        __builtin_prefetch(&nodes_[node.parameter]);
        passed[left++] = {node.parameter, at.depth + 1};
      }
      next = find_literal(at.node, path.pieces[at.depth]);
    }
    if (next != none) {
      at = {next, at.depth + 1};
    } else if (left > 0) {
      at = passed[--left];
    } else {
      return;
    }
  }
}

// Returns false if there are too many states.
bool RouteTree::match_ambiguous(const PathReading& path, MethodFilter filter, Matches& out) const noexcept {
  std::array<States, 2> states;
  States* now = states.data();
  States* next = now + 1;
  now->add({root_, 0});
  for (const Piece& piece : path.pieces) {
    next->clear();
    if (!advance(*now, piece, *next)) return false;
    std::swap(now, next);
    if (piece.has(Piece::may_end_path)) accept(*now, filter, out);
  }
  accept(*now, filter, out);
  const auto found = std::span(out.found_).first(out.count_);
  std::sort(found.begin(), found.end(), [&](const RouteMatch& a, const RouteMatch& b) {
    return a.limit != b.limit ? a.limit < b.limit : ranks_[a.route] < ranks_[b.route];
  });
  return true;
}

// Applies every meaning of the next piece to each state.
bool RouteTree::advance(const States& from, const Piece& piece, States& to) const noexcept {
  for (const State state : from) {
    add_consumed(state, piece, to);
    if (piece.has(Piece::may_vanish)) to.add(state);
    if (piece.has(Piece::may_go_up)) {
      const std::uint32_t parent = nodes_[state.node].parent;
      if (state.beyond > 0) {
        to.add({state.node, state.beyond - 1});
      } else {
        to.add({parent == none ? root_ : parent, 0});
      }
    }
    if (piece.has(Piece::follows_soft_separator)) add_joined(state, to);
  }
  return !to.too_many();
}

// Reads the piece as a segment.
void RouteTree::add_consumed(State state, const Piece& piece, States& to) const noexcept {
  const Node& node = nodes_[state.node];
  if (state.beyond > 0) return to.add({state.node, state.beyond + 1});
  const std::uint32_t literal = find_literal(state.node, piece);
  if (literal != none) to.add({literal, 0});
  if (node.parameter != none) to.add({node.parameter, 0});
  // In all other cases, a state that went deeper can return to this node, and matches everything that this state would.
  if (node.parameter == none && (literal == none || piece.has(Piece::may_differ))) to.add({state.node, 1});
}

// Reads the piece as part of the previous segment. That segment is then not a literal, since no literal contains a
// slash. The parameter next to the literal, if any, is a separate state.
void RouteTree::add_joined(State state, States& to) const noexcept {
  const Node& node = nodes_[state.node];
  if (state.beyond > 0) return to.add(state);
  if (state.node == root_) return;
  if (node.length == 0) return to.add(state);
  if (nodes_[node.parent].parameter == none) to.add({node.parent, 1});
}

// Ends the path in each state. From its node upwards, routes come in order of specificity.
void RouteTree::accept(const States& states, MethodFilter filter, Matches& out) const noexcept {
  const auto add = [&](std::span<const Terminal> terminals) {
    for (const Terminal& terminal : terminals) {
      if (filter.admits(terminal.method)) out.add_first(terminal.match, terminal.rank);
    }
  };
  for (const State state : states) {
    out.next_state();
    if (state.beyond == 0) add(ends_of(nodes_[state.node]));
    for (std::uint32_t at = state.node; at != none; at = nodes_[at].parent) add(wildcards_of(nodes_[at]));
  }
}

void RouteTree::match_everything(MethodFilter filter, Matches& out) const noexcept {
  out.clear();
  out.next_state();
  out.unreadable_ = true;
  for (const Terminal& terminal : everything_) {
    if (!filter.admits(terminal.method)) continue;
    if (terminal.match.route == no_route) {
      if (out.state_of_limit_[terminal.match.limit] == out.state_) continue;
      out.state_of_limit_[terminal.match.limit] = out.state_;
    }
    out.found_[out.count_++] = terminal.match;
  }
}

}  // namespace weir::match
