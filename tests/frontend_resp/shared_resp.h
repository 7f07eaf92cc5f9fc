// A Redis protocol frontend whose limits are on a shared store; or one like it whose limits are its own.
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

  // Has the store answer for as long as the connection waits. All that is replied.
  std::string let_store_answer(Conversation& talk) {
    std::string heard;
    while (talk.paused()) {
      store.deliver_all();
      heard += talk.resume();
    }
    return heard;
  }

  std::vector<std::string> resets;  // that were told
  RespFrontend frontend;
};

// As an array of bulk strings.
inline std::string command(const std::vector<std::string_view>& words) {
  std::string bytes;
  wire::resp::append_command(bytes, words);
  return bytes;
}

}  // namespace weir::frontend
