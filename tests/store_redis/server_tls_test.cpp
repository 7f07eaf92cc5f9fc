// A Redis server behind TLS.
#include "store/redis/server_connection.h"
#include "tests/net/certificates.h"
#include "tests/net/server.h"
#include "tests/redis_process.h"
#include "tests/store_redis/server_visitor.h"

namespace weir::store::redis {
namespace {

class ServerTls : public testing::Test {
 protected:
  ServerTls() {
    ca_.write(folder_.file("ca.pem"), folder_.file("ca.key"));
    server_.write(folder_.file("server.pem"), folder_.file("server.key"));
    client_.write(folder_.file("client.pem"), folder_.file("client.key"));
  }

  [[nodiscard]] std::vector<std::string> arguments(const std::string& client_certificates) const {
    return {"--tls-port",         std::to_string(port_),      "--tls-cert-file",    folder_.file("server.pem"),
            "--tls-key-file",     folder_.file("server.key"), "--tls-ca-cert-file", folder_.file("ca.pem"),
            "--tls-auth-clients", client_certificates};
  }

  [[nodiscard]] ServerConnection::Options leading_there(const net::TlsClientFiles& files) const {
    ServerConnection::Options options;
    options.endpoint = {"127.0.0.1", port_, ""};
    auto loaded = net::TlsClientContext::load(files);
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message());
    options.tls = *loaded;
    options.server_name = "redis.test";
    return options;
  }

  net::Folder folder_;
  net::Identity ca_ = net::make_identity("weir test CA");
  net::Identity server_ = net::make_identity("server", &ca_, "DNS:redis.test");
  net::Identity client_ = net::make_identity("client", &ca_);
  std::uint16_t port_ = free_port();
};

TEST_F(ServerTls, CommandsAreAnswered) {
  const RedisProcess server(arguments("no"));
  ServerVisitor visitor(leading_there({folder_.file("ca.pem"), "", ""}));
  ASSERT_TRUE(visitor.is_let_in()) << visitor.loss();
  const std::string large(300'000, 'x');
  EXPECT_EQ(visitor.ask({"ECHO", large}), large);
}

TEST_F(ServerTls, ACertificateIsShownToAServerThatWantsOne) {
  const RedisProcess server(arguments("yes"));
  ServerVisitor visitor(
      leading_there({folder_.file("ca.pem"), folder_.file("client.pem"), folder_.file("client.key")}));
  ASSERT_TRUE(visitor.is_let_in()) << visitor.loss();
  ServerVisitor without(leading_there({folder_.file("ca.pem"), "", ""}));
  EXPECT_FALSE(without.is_let_in());
}

TEST_F(ServerTls, AServerWithAnotherNameIsRejected) {
  const RedisProcess server(arguments("no"));
  auto options = leading_there({folder_.file("ca.pem"), "", ""});
  options.server_name = "other.test";
  ServerVisitor visitor(options);
  visitor.connect();
  EXPECT_NE(visitor.loss().find("hostname mismatch"), std::string::npos) << visitor.loss();
}

}  // namespace
}  // namespace weir::store::redis
