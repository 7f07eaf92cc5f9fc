// Puts the events of yaml-cpp together to a tree, within bounds: yaml-cpp asks back before it goes one level deeper,
// so that what is too deep, too much or a cycle ends here and not in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <yaml-cpp/eventhandler.h>

#include "policy/yaml/document.h"
#include "policy/yaml/encoding.h"

namespace weir::policy::yaml {

// Thrown through yaml-cpp, and caught in parse().
struct Refused {
  Mark at;
  std::string message;
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const Places& places) : places_(places) {}

  // The document, once it has ended.
  [[nodiscard]] Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  // A list or map that has begun. Of a map's member the key comes first.
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<Written<std::string>> key;
  };

  // What a node adds to the tree.
  struct Weight {
    std::size_t nodes = 0;
    std::size_t bytes = 0;
    int height = 0;
  };

  struct Anchored {
    Node node;
    Weight weight;
  };

  [[nodiscard]] static Weight weigh(const Node& node);
  [[nodiscard]] Mark place(const YAML::Mark& mark) const;
  [[nodiscard]] bool wants_key() const { return !open_.empty() && open_.back().node.is_map() && !open_.back().key; }
  void charge(Mark at, const Weight& weight);
  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor);
  void close();
  void keep(const Node& node, YAML::anchor_t anchor);
  void put_key(const Node& node);
  void put(Node node);

  const Places& places_;
  Node root_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchored_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
  bool begun_ = false;
};

}  // namespace weir::policy::yaml
