// The certificates of a listener: TLS 1.2 and later, with client certificates where a CA for them is given. Read again
// without a restart: connections that begin afterwards use the new ones.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weir/result.h"

struct ssl_ctx_st;

namespace weir::net {

struct TlsFiles {
  std::string certificate_chain;  // PEM, our own certificate first
  std::string key;                // PEM, without a passphrase
  std::string client_ca;          // PEM; empty: no client certificates. Else a client without one is refused
};

// From any thread.
class TlsContext {
 public:
  // `applications`: what ALPN offers, preferred first (`h2`, `http/1.1`). A client that asks for none of them is
  // refused; one that does not ask is not.
  [[nodiscard]] static Result<std::shared_ptr<TlsContext>> load(TlsFiles files,
                                                                const std::vector<std::string>& applications = {});

  // Reads the files again, for take(): so that several can be read before the first one changes.
  [[nodiscard]] Result<std::shared_ptr<ssl_ctx_st>> prepare() const;
  void take(std::shared_ptr<ssl_ctx_st> prepared);

  // Both. If any of the files is bad, nothing changes.
  [[nodiscard]] Result<void> reload();

  [[nodiscard]] std::shared_ptr<ssl_ctx_st> current() const;

 private:
  TlsContext(TlsFiles files, std::string applications);

  const TlsFiles files_;
  const std::string applications_;  // as on the wire: each with its length before it
  mutable std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> current_;
};

}  // namespace weir::net
