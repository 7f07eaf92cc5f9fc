// A Redis protocol frontend with limits on a shared or a local store.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/resp/resp_frontend.h"
#include "tests/frontend/shared_context.h"
#include "tests/frontend_resp/talk.h"
#include "wire/resp/writer.h"

namespace weir::frontend {

struct SharedResp : SharedContext {
  explicit SharedResp(Store kept = Store::shared, RespOptions options = {}, std::string_view policy = policy_of_tests)
      : SharedContext(policy, kept),
        frontend(context, std::move(options), [this](const MadeReset& reset) { resets.push_back(text_of(reset)); }) {}

  [[nodiscard]] Conversation connect() {
    net::Peer peer;
    peer.address = "203.0.113.7";
    peer.port = 4711;
    return Conversation(frontend.open(peer, {}));
  }

  // Lets the store answer while the connection waits. Returns all replies.
  std::string let_store_answer(Conversation& talk) {
    std::string received;
    while (talk.paused()) {
      store.deliver_all();
      received += talk.resume();
    }
    return received;
  }

  std::vector<std::string> resets;  // reported
  RespFrontend frontend;
};

// Returns the command as an array of bulk strings.
inline std::string command(const std::vector<std::string_view>& words) {
  std::string bytes;
  wire::resp::append_command(bytes, words);
  return bytes;
}

}  // namespace weir::frontend
