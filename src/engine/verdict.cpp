#include "engine/verdict.h"

namespace weir::engine {

std::string_view name_of(Reason reason) noexcept {
  switch (reason) {
    case Reason::uncovered:
      return "uncovered";
    case Reason::within:
      return "within";
    case Reason::warned:
      return "warned";
    case Reason::exceeded:
      return "exceeded";
    case Reason::blocked:
      return "blocked";
    case Reason::key_missing:
      return "key_missing";
    case Reason::banned:
      return "banned";
    case Reason::too_many_limits:
      return "too_many_limits";
    case Reason::store_away:
      return "store_away";
  }
  return "unknown";
}

}  // namespace weir::engine
