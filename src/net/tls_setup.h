// What the TLS of a server and that of a client set up alike. Internal to the room. From any thread.
#pragma once

#include <memory>
#include <string>

#include "weir/result.h"

struct ssl_ctx_st;
struct ssl_method_st;

namespace weir::net {

// The most telling of OpenSSL's reasons for the last failure on this thread, which is the first.
[[nodiscard]] std::string tls_reason();

// TLS 1.2 and later, never asking for a passphrase.
[[nodiscard]] Result<std::shared_ptr<ssl_ctx_st>> make_tls_context(const ssl_method_st* method);

// PEM files.
[[nodiscard]] Result<void> use_certificate(ssl_ctx_st& context, const std::string& chain, const std::string& key);

}  // namespace weir::net
