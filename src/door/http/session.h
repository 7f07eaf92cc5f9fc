// One connection of the HTTP door. Internal to the door.
#pragma once

#include <string>
#include <string_view>

#include "door/http/http_door.h"

namespace weir::door {

class HttpDoor::Session final : public HttpSession {
 public:
  Session(HttpDoor& door, const net::Peer& peer, const net::Link& link)
      : HttpSession(link, door.options_.limits, door.room_),
        door_(door),
        ip_(peer.unix_socket ? "127.0.0.1" : peer.address) {}

 private:
  void serve(std::span<const Request> requests, net::Output& out) override;
  [[nodiscard]] Instant now() const override { return door_.desk_.now(); }

  [[nodiscard]] Task task_for(const Request& request);
  [[nodiscard]] Task auth(const Request& request, std::string_view below);
  [[nodiscard]] Task check(const Request& request);
  [[nodiscard]] Task health(std::string_view path) const;
  [[nodiscard]] bool may_ask(const Request& request) const noexcept;

  void answer(const Request& request, const Task& task, const Ruling& ruling, net::Output& out);
  void answer_auth(const Request& request, const engine::Verdict& verdict, const Ruling& ruling, net::Output& out);
  void answer_check(const Request& request, const engine::Verdict& verdict, const Ruling& ruling, std::string& out);
  void answer_checks(const Request& request, const Task& task, const Ruling& ruling, std::string& out);
  void answer_descriptors(const Request& request, std::string& out);
  void say(const Request& request, const Task& task, std::string& out);

  HttpDoor& door_;
  std::string ip_;
};

}  // namespace weir::door
