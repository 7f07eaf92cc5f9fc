// One descriptor of a domain: what its counter has left, and how it is made to start afresh.
//
// The answers have the fields of consumer.h's, with `domain`; `consumer` is the descriptor, as
// `remote_address=192.0.2.7 + path=/login`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "door/desk.h"
#include "engine/descriptor_name.h"
#include "engine/hearing.h"
#include "weir/result.h"

namespace weir::door {

class DescriptorTask {
 public:
  enum class Kind : std::uint8_t { inspect, reset };
  using Entries = std::vector<std::pair<std::string, std::string>>;

  DescriptorTask(Kind kind, std::string_view domain, Entries entries)
      : kind_(kind), domain_(domain), texts_(std::move(entries)) {}

  // The answer as JSON. On an error the policy has no limit for it, or it cannot be forgotten.
  [[nodiscard]] Result<std::string> judge(Desk& desk) const;

  // The same at a hearing, which has no other questions, and is over when it is answered. The task stays until then.
  void ask(engine::Hearing& hearing);
  [[nodiscard]] Result<std::string> answer(const engine::Hearing& hearing) const;

  // The status of an error.
  [[nodiscard]] unsigned status_of_error(Desk& desk) const;

 private:
  [[nodiscard]] std::vector<engine::DescriptorEntry> entries() const;
  [[nodiscard]] Result<std::string> inspection(const engine::Plan& plan, const engine::DescriptorStatus& status) const;
  [[nodiscard]] std::string done() const;

  Kind kind_;
  std::string domain_;
  Entries texts_;
  std::vector<engine::DescriptorEntry> heard_;  // what a hearing views
};

}  // namespace weir::door
