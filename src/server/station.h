// What lives on one loop: a desk, and the doors' parts that its sessions share. Changed on its loop only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "door/access.h"
#include "door/admin/admin_door.h"
#include "door/desk.h"
#include "door/health.h"
#include "door/http/http_door.h"
#include "door/resp/resp_door.h"
#include "door/rls/rls_door.h"
#include "observe/recorder.h"
#include "server/config.h"
#include "store/local/throttle_table.h"
#include "store/redis/redis_options.h"
#include "store/shared/shared_store.h"
#include "store/shared/store_counts.h"
#include "weir/result.h"

namespace weir::server {

// What the doors are told: from weir.yaml, with the tokens read.
struct DoorOptions {
  door::Settings settings;
  std::optional<door::HttpOptions> http;
  std::optional<door::RlsOptions> rls;
  std::optional<door::RespOptions> resp;
  std::optional<door::AdminOptions> admin;
};

// `admin_token` is empty where none could be made.
[[nodiscard]] Result<DoorOptions> door_options(const Config& config, const std::string& admin_token, std::size_t loops);

// What all stations share; it stays longer than they do.
struct Premises {
  engine::Engine& engine;
  const Clock& clock;
  const door::Health& health;
  const observe::ConsumerNames& names;
  observe::DecisionLog* log;       // null: denials are not logged
  store::ThrottleTable* throttle;  // null where the Redis protocol's door is off
  door::AdminBackend& backend;
  const store::redis::RedisOptions* redis;  // null: all states are this process's own
};

class Station {
 public:
  // `counts` is null where all states are this process's own, and only there. Made while the loop does not run.
  Station(const Premises& premises, const DoorOptions& options, net::Loop& loop, store::StoreCounts* counts);
  // After the sessions, and while the loop does not run.
  ~Station();

  void change(const DoorOptions& options);

  [[nodiscard]] const observe::Recorder& recorder() const noexcept { return recorder_; }

  // Null if the door is off.
  [[nodiscard]] door::HttpDoor* http() noexcept { return http_ ? &*http_ : nullptr; }
  [[nodiscard]] door::RlsDoor* rls() noexcept { return rls_ ? &*rls_ : nullptr; }
  [[nodiscard]] door::RespDoor* resp() noexcept { return resp_ ? &*resp_ : nullptr; }
  [[nodiscard]] door::AdminDoor* admin() noexcept { return admin_ ? &*admin_ : nullptr; }

 private:
  observe::Recorder recorder_;
  std::unique_ptr<store::SharedStore> store_;  // null: all states are this process's own
  door::Desk desk_;
  std::optional<door::HttpDoor> http_;
  std::optional<door::RlsDoor> rls_;
  std::optional<door::RespDoor> resp_;
  std::optional<door::AdminDoor> admin_;
};

}  // namespace weir::server
