// A descriptor on the command line: --domain NAME --descriptor KEY=VALUE, repeated for each of its entries.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/parser.h"

namespace weir::app {

struct DescriptorOption {
  std::string domain;
  std::vector<std::string> entries;  // as written

  [[nodiscard]] bool is_given() const noexcept { return !entries.empty() || !domain.empty(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs() const;

  // Of the admin door: /v1/domains/edge/descriptor?remote_address=192.0.2.7
  [[nodiscard]] std::string target(const std::string& verb) const;
};

// `option` outlives the parsing.
void add_descriptor(CLI::App& line, DescriptorOption& option);

// What is wrong with the command line, thrown as the parser does: a descriptor that is not whole, or beside `others`;
// or neither.
void check_descriptor(const DescriptorOption& option, const std::vector<std::pair<std::string, bool>>& others);

}  // namespace weir::app
