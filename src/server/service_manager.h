// What systemd is told about this process (sd_notify): that it is ready, is reading its files again, or is stopping.
// Nothing happens where nobody asked to be told.
#pragma once

#include <string_view>

namespace weir::server {

// `state` as sd_notify(3) has it: `READY=1`, `RELOADING=1`, `STOPPING=1`. RELOADING gets its time added.
void notify_service_manager(std::string_view state) noexcept;

}  // namespace weir::server
