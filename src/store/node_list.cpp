#include "store/node_list.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace weir::store {
namespace {

constexpr std::size_t max_word_length = 256;

void append_word(std::string& text, std::string_view name, std::string_view value) {
  if (!text.empty()) text += ' ';
  text.append(name).append(1, '=');
  for (const char letter : value.substr(0, max_word_length)) text += letter > ' ' && letter <= '~' ? letter : '_';
}

std::uint64_t number_of(std::string_view text) noexcept {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string beat_text(const Beat& beat) {
  std::string text;
  append_word(text, "beat", std::to_string(beat.number));
  append_word(text, "name", beat.facts.name);
  append_word(text, "version", beat.facts.version);
  append_word(text, "policy", beat.facts.policy);
  if (beat.leaves) append_word(text, "leaves", "1");
  return text;
}

Beat read_beat(std::string_view text) {
  Beat beat;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1, max_word_length);
    if (name == "beat") beat.number = number_of(value);
    if (name == "name") beat.facts.name = value;
    if (name == "version") beat.facts.version = value;
    if (name == "policy") beat.facts.policy = value;
    if (name == "leaves") beat.leaves = value == "1";
  }
  return beat;
}

NodeList::NodeList(std::string id, std::uint32_t until_counted)
    : id_(std::move(id)), count_(std::max(until_counted, std::uint32_t{1})) {}

void NodeList::take(std::span<const Line> lines, SteadyTime now) {
  const std::lock_guard guard(mutex_);
  if (now - answered_at_ > 2 * between_beats) {  // after an outage, or for the first answer, when no node is known yet
    for (auto& [id, node] : known_) {
      if (counts(id, node)) node.until = std::max(node.until, now + after_outage);
    }
  }
  answered_at_ = now;
  for (const Line& line : lines) update(line, now);
  std::erase_if(known_, [&](const auto& entry) {
    return entry.second.last_returned != now && !counts(entry.first, entry.second);
  });
  const auto others = std::ranges::count_if(
      known_, [&](const auto& entry) { return entry.first != id_ && counts(entry.first, entry.second); });
  count_.store(static_cast<std::uint32_t>(1 + others), std::memory_order_relaxed);
  is_counted_.store(true, std::memory_order_relaxed);
}

void NodeList::update(const Line& line, SteadyTime now) {
  auto found = known_.find(line.id);
  if (found == known_.end()) {
    if (known_.size() >= max_nodes) return;
    found = known_.emplace(line.id, Known{}).first;
  }
  Known& node = found->second;
  node.last_returned = now;
  if (node.text == line.text) return;
  Beat beat = read_beat(line.text);
  node.text = line.text;
  node.facts = std::move(beat.facts);
  node.last_seen = now;
  node.until = beat.leaves ? now : now + max_silence;
}

std::vector<NodeList::Node> NodeList::nodes(SteadyTime now) const {
  std::vector<Node> all;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [id, node] : known_) {
      if (!counts(id, node)) continue;
      all.push_back(
          {.facts = node.facts,
           .silent = std::chrono::duration_cast<Duration>(std::max(now - node.last_seen, SteadyTime::duration{})),
           .is_self = id == id_});
    }
  }
  std::ranges::stable_sort(all, {}, [](const Node& node) { return node.facts.name; });
  return all;
}

}  // namespace weir::store
