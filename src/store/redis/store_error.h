// The errors of Redis as the store counts them. Pure.
#pragma once

#include "store/redis/error_kind.h"
#include "store/shared/store_counts.h"

namespace weir::store::redis {

[[nodiscard]] constexpr StoreError store_error(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::no_auth:
    case ErrorKind::wrong_pass:
    case ErrorKind::no_permission:
    case ErrorKind::denied:
      return StoreError::credentials;
    case ErrorKind::read_only:
      return StoreError::read_only;
    case ErrorKind::out_of_memory:
      return StoreError::out_of_memory;
    case ErrorKind::loading:
    case ErrorKind::master_down:
      return StoreError::loading;
    case ErrorKind::moved:
    case ErrorKind::ask:
    case ErrorKind::try_again:
    case ErrorKind::cluster_down:
      return StoreError::cluster_down;
    default:
      return StoreError::refused;
  }
}

}  // namespace weir::store::redis
