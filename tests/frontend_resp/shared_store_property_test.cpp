// Replies do not depend on how the input is split or when the store answers: they equal those of a local store.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/frontend_resp/shared_resp.h"

namespace weir::frontend {
namespace {

using Words = std::vector<std::string>;

rc::Gen<std::string> any_command() {
  using rc::gen::element;
  const auto words = rc::gen::oneOf(
      rc::gen::map(rc::gen::tuple(element<std::string>("a", "b"), element<std::string>("0", "1", "2")),
                   [](const auto& drawn) {
                     return Words{"CL.THROTTLE", std::get<0>(drawn), "2", "1", "60", std::get<1>(drawn)};
                   }),
      rc::gen::map(
          rc::gen::tuple(element<std::string>("WEIR.CHECK", "weir.peek"), element<std::string>("api", "mail", "none"),
                         element<std::string>("alice", "bob"), element<std::string>("1", "2", "x")),
          [](const auto& drawn) {
            return Words{std::get<0>(drawn), std::get<1>(drawn), std::get<2>(drawn), "COST", std::get<3>(drawn)};
          }),
      element(Words{"WEIR.RESET", "api", "alice"}, Words{"PING"}, Words{"CLIENT", "REPLY", "OFF"},
              Words{"CLIENT", "REPLY", "ON"}, Words{"CLIENT", "REPLY", "SKIP"}, Words{"AUTH", "key of the admin"},
              Words{"AUTH", "wrong"}, Words{"HELLO", "3"}, Words{"HELLO", "2"}, Words{"RESET"}, Words{"NOTHING"},
              Words{"MULTI"}, Words{"MULTI"}, Words{"EXEC"}, Words{"EXEC"}, Words{"DISCARD"},
              Words{"WEIR.CHECK", "api"}, Words{"CL.THROTTLE", "a", "2", "0", "60"}));
  const auto inline_text = element<std::string>("\r\n", "WEIR.CHECK api \"al\\x69ce\"\r\n", "CL.THROTTLE 'a' 2 1 60\n",
                                                "*0\r\n", "PING\r\n");
  return rc::gen::weightedOneOf<std::string>(
      {{6, rc::gen::map(words, [](const Words& drawn) { return command({drawn.begin(), drawn.end()}); })},
       {1, inline_text}});
}

// Sends everything at once.
std::string said_to_itself(const std::string& bytes) {
  SharedResp server(SharedContext::Store::own, {.limits = {}, .token = {}, .admin_token = Token("key of the admin")});
  Conversation talk = server.connect();
  return talk.send(bytes);
}

// Sends pieces, and lets the store answer at random.
std::string said_to_the_store(const std::string& bytes) {
  SharedResp server(SharedContext::Store::shared,
                    {.limits = {}, .token = {}, .admin_token = Token("key of the admin")});
  Conversation talk = server.connect();
  std::string received;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 200);
    received += talk.send(std::string_view(bytes).substr(at, size));
    at += size;
    if (talk.paused() && *rc::gen::arbitrary<bool>()) {
      if (server.store.waiting() > 0) server.store.deliver();
      received += talk.resume();
    }
  }
  return received + server.let_store_answer(talk);
}

// HELLO replies the id of the connection, which differs.
std::string without_numbers(std::string text) {
  for (std::size_t at = 0; (at = text.find("id\r\n:", at)) != std::string::npos; ++at) {
    const std::size_t begin = at + 5;
    text.erase(begin, text.find('\r', begin) - begin);
  }
  return text;
}

RC_GTEST_PROP(SharedResp, RepliesAreThoseOfAStoreOfOnesOwn, ()) {
  const auto commands = *rc::gen::container<std::vector<std::string>>(any_command());
  std::string bytes;
  for (const std::string& each : commands) bytes += each;
  RC_ASSERT(without_numbers(said_to_the_store(bytes)) == without_numbers(said_to_itself(bytes)));
}

}  // namespace
}  // namespace weir::frontend
