// Answers the requests about overrides and blocks: validates a change, logs it, and activates it in the engine.
//
// One thread calls all functions except id_of() and figures(), and reloads the engine on that thread too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/engine.h"
#include "match/exceptions.h"
#include "match/matcher.h"
#include "overrides/change_log.h"
#include "overrides/record.h"
#include "overrides/registry.h"
#include "overrides/resolve.h"
#include "policy/ruleset.h"
#include "weir/clock.h"
#include "weir/result.h"

namespace weir::overrides {

inline constexpr auto change_log_file = "overrides.log";

struct ServiceRequest {
  enum class Action : std::uint8_t { put, show, remove, list, history };

  Action action = Action::list;
  Kind kind = Kind::limit_override;
  std::string id{};        // for show and remove
  std::string body{};      // for put
  std::string by{};        // the name of the token
  std::string if_match{};  // the field If-Match of put and remove; empty: none
  // Used by list: filters and paging. `max` also limits how many history entries are returned.
  std::string limit{};
  std::string target{};
  std::string cursor{};
  std::size_t max = 100;
};

struct Answer {
  unsigned status = 200;
  std::string text{};         // JSON if the status is 200, otherwise the reason
  std::uint64_t version = 0;  // of the record; zero: none
};

// A change that was made, for the log of the server.
struct Notice {
  const Change& change;
  std::string_view key;  // the consumer's, as in match/consumer.h; empty for a block or an unknown limit
};

class Service {
 public:
  struct Options {
    std::filesystem::path directory{};  // of the log; empty: changes are rejected
    std::function<void(const Notice&)> on_change{};
  };

  // Loads the log and activates its records.
  static Result<std::unique_ptr<Service>> open(engine::Engine& engine, const Clock& clock, Options options);

  [[nodiscard]] Answer answer(const ServiceRequest& request);

  // Removes what has expired. Called about once per second.
  void expire();

  // The exceptions for another policy. Pass them to Engine::reload and then, if it succeeds, call take().
  struct Prepared {
    std::unique_ptr<match::Exceptions> exceptions;
    std::unordered_map<Registry::Number, std::string> inactive;  // with the reasons
  };
  [[nodiscard]] Result<Prepared> prepare(std::shared_ptr<const policy::Ruleset> ruleset) const;
  void take(Prepared prepared);

  // Returns the id of a record; empty if it is gone. Thread-safe.
  [[nodiscard]] std::string id_of(Registry::Number number) const;

  struct Figures {
    std::size_t overrides = 0;
    std::size_t blocks = 0;
    std::size_t inactive = 0;
    std::uint64_t version = 0;
  };
  // Thread-safe.
  [[nodiscard]] Figures figures() const;

 private:
  Service(engine::Engine& engine, const Clock& clock, Options options)
      : engine_(engine), clock_(clock), options_(std::move(options)) {}

  // What a PUT asks for, validated against the policy and the other records.
  struct Plan {
    Record record;
    Registry::Entry existing{};
    std::string key{};  // of the consumer
  };
  [[nodiscard]] std::optional<Answer> plan_override(Plan& plan) const;
  [[nodiscard]] std::optional<Answer> plan_block(Plan& plan) const;
  [[nodiscard]] std::optional<Answer> find_existing(Plan& plan) const;
  [[nodiscard]] Result<void> check_override(const Plan& plan, const Target& target) const;

  [[nodiscard]] Answer put(const ServiceRequest& request);
  [[nodiscard]] Answer remove(const ServiceRequest& request);
  [[nodiscard]] Answer show(const ServiceRequest& request) const;
  [[nodiscard]] Answer list(const ServiceRequest& request) const;
  [[nodiscard]] Answer history(const ServiceRequest& request) const;
  [[nodiscard]] Answer describe(const Registry::Entry& entry) const;

  [[nodiscard]] Result<void> commit(std::span<const Change> changes);
  [[nodiscard]] Result<void> reload();
  void activate(const Record& record);
  void activate_consumer(const Record& record);
  void clamp_usage(const Target& target);
  void compact();

  engine::Engine& engine_;
  const Clock& clock_;
  const Options options_;
  std::optional<ChangeLog> log_;
  ReplacementCache cache_;

  mutable std::mutex mutex_;  // guards the members below: other threads read them
  Registry registry_;
  std::unordered_map<Registry::Number, std::string> inactive_;
};

}  // namespace weir::overrides
