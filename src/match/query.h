// A request as the engine sees it: what was asked, and by whom. Views only; nothing of HTTP but header fields.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "weir/cost.h"
#include "weir/header.h"
#include "weir/time.h"

namespace weir::match {

using weir::Header;

struct Query {
  std::string_view method = "GET";
  std::string_view target = "/";  // as sent: a path, or the absolute form

  // The address of whoever sent the request, as Address::parse_endpoint reads it; empty: missing. If that is a trusted
  // proxy, its headers say who called it.
  std::string_view ip{};
  std::span<const Header> headers{};

  // What the asking program knows by itself. It is believed; the headers are not asked.
  std::string_view user{};
  std::string_view api_key{};
  std::string_view tier{};
  std::optional<Cost> cost{};

  Duration max_wait = Duration::max();  // how long the caller can wait for a turn (queues)
  bool peek = false;                    // only look, charge nothing
  bool wants_more_after = false;        // of the decisions
};

}  // namespace weir::match
