// Runs a server until it is told to stop: SIGTERM and SIGINT drain and save, after the configured grace or at the
// second of them; SIGHUP and changed files reload, SIGUSR1 opens the log anew.
#pragma once

#include <functional>
#include <string>

#include "server/server.h"
#include "server/sources.h"
#include "weir/result.h"

namespace weir::server {

// Call it from the program's first thread, before there are others: from then on signals are waited for, not handled.
// `on_ready` is called once, when the server is ready: its listeners are open and its store is connected, or does not
// answer within startup_timeout.
[[nodiscard]] Result<void> serve(Sources sources, Loaded loaded, std::string version,
                                 const std::function<void(const Server&)>& on_ready);

}  // namespace weir::server
