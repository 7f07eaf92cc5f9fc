// Runs a server until SIGTERM or SIGINT. These signals drain the server and save its states, after the grace period or
// at the second signal. SIGHUP and changed files cause a reload. SIGUSR1 reopens the log.
#pragma once

#include <functional>
#include <string>

#include "server/server.h"
#include "server/sources.h"
#include "weir/result.h"

namespace weir::server {

// Must be called from the main thread before other threads exist: it blocks the signals and reads them from a
// descriptor. `on_ready` is called once, when the listeners are open and the store is connected or startup_timeout has
// passed.
[[nodiscard]] Result<void> serve(Sources sources, Loaded loaded, std::string version,
                                 const std::function<void(const Server&)>& on_ready);

}  // namespace weir::server
