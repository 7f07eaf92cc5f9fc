// A house whose limits are on a shared store; or one like it whose limits are its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "door/resp/resp_door.h"
#include "tests/door/shared_desk.h"
#include "tests/door_resp/talk.h"
#include "wire/resp/command_writer.h"

namespace weir::door {

struct SharedHouse : SharedDesk {
  explicit SharedHouse(Store kept = Store::shared, RespOptions options = {}, std::string_view policy = policy_of_tests)
      : SharedDesk(policy, kept), door(desk, *throttles, std::move(options)) {}

  [[nodiscard]] Conversation connect() {
    net::Peer peer;
    peer.address = "203.0.113.7";
    peer.port = 4711;
    return Conversation(door.open(peer, {}));
  }

  // Has the store answer for as long as the connection waits. All that is replied.
  std::string hear_out(Conversation& talk) {
    std::string heard;
    while (talk.paused()) {
      store.deliver_all();
      heard += talk.resume();
    }
    return heard;
  }

  std::unique_ptr<store::ThrottleTable> throttles = throttles_of_tests();
  RespDoor door;
};

// As an array of bulk strings.
inline std::string command(const std::vector<std::string_view>& words) {
  std::string bytes;
  wire::resp::append_command(bytes, words);
  return bytes;
}

}  // namespace weir::door
