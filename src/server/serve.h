// Runs a server until SIGTERM or SIGINT. After such a signal, the server drains and saves its states, once the grace
// period has passed or a second signal arrives. SIGHUP and changed files cause a reload. SIGUSR1 reopens the log.
#pragma once

#include <functional>
#include <string>

#include "server/server.h"
#include "server/sources.h"
#include "weir/result.h"

namespace weir::server {

// Must be called on the main thread before other threads exist: it blocks the signals and reads them from a descriptor.
// `on_ready` is called once, when the listeners are open and either the store is connected or startup_timeout has
// passed.
[[nodiscard]] Result<void> serve(Sources sources, Loaded loaded, std::string version,
                                 const std::function<void(const Server&)>& on_ready);

}  // namespace weir::server
