// Client connections with TLS: trust and client certificates.
#include <fstream>

#include "net/tls_context.h"
#include "tests/net/certificates.h"
#include "tests/net/visitor.h"

namespace weir::net {
namespace {

class OutgoingTls : public testing::Test {
 protected:
  void SetUp() override {
    ca_.write(folder_.file("ca.pem"), folder_.file("ca.key"));
    stranger_.write(folder_.file("stranger.pem"), folder_.file("stranger.key"));
    server_.write(files_.certificate_chain, files_.key);
    client_.write(folder_.file("client.pem"), folder_.file("client.key"));
  }

  [[nodiscard]] ListenOptions listening(const std::string& client_ca = "") {
    files_.client_ca = client_ca;
    auto loaded = TlsContext::load(files_);
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message());
    ListenOptions with;
    with.tls = *loaded;
    return with;
  }

  [[nodiscard]] static OutgoingOptions to(const Server& server, const TlsClientFiles& files) {
    OutgoingOptions options = leading_to(endpoint_of(server.listener->bound()));
    auto loaded = TlsClientContext::load(files);
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message());
    options.tls = *loaded;
    return options;
  }

  [[nodiscard]] TlsClientFiles trusting() const { return {folder_.file("ca.pem"), "", ""}; }

  Folder folder_;
  Identity ca_ = make_identity("weir test CA");
  Identity stranger_ = make_identity("another CA");
  Identity server_ = make_identity("server", &ca_, "DNS:redis.test,IP:127.0.0.1");
  Identity client_ = make_identity("client", &ca_);
  TlsFiles files_{folder_.file("server.pem"), folder_.file("server.key"), ""};
};

TEST_F(OutgoingTls, TransfersBytesToATrustedServer) {
  const Server server(echo(), listening());
  for (const char* const name : {"", "127.0.0.1", "redis.test"}) {  // empty: the host
    OutgoingOptions options = to(server, trusting());
    options.server_name = name;
    Visitor visitor(options);
    ASSERT_TRUE(visitor.arrives()) << visitor.loss();
    EXPECT_EQ(visitor.ask("hello"), "hello");
  }
}

int note_name(SSL* ssl, int* /*alert*/, void* noted) {
  const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  *static_cast<std::atomic<bool>*>(noted) = name != nullptr && name == std::string_view("redis.test");
  return SSL_TLSEXT_ERR_OK;
}

TEST_F(OutgoingTls, SendsTheServerName) {
  std::atomic<bool> noted = false;
  ListenOptions with = listening();
  SSL_CTX* const context = with.tls->current().get();
  SSL_CTX_ctrl(context, SSL_CTRL_SET_TLSEXT_SERVERNAME_ARG, 0, &noted);
  SSL_CTX_callback_ctrl(context, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, reinterpret_cast<void (*)()>(note_name));
  const Server server(echo(), with);
  OutgoingOptions options = to(server, trusting());
  options.server_name = "redis.test";
  Visitor visitor(options);
  ASSERT_TRUE(visitor.arrives());
  EXPECT_TRUE(noted);
}

TEST_F(OutgoingTls, MegabytesArriveComplete) {
  const Server server(echo(), listening());
  Visitor visitor(to(server, trusting()));
  ASSERT_TRUE(visitor.arrives());
  std::string text;
  for (int i = 0; text.size() < (std::size_t{4} << 20); ++i) text += std::to_string(i) + ' ';
  EXPECT_EQ(visitor.ask(text), text);
}

TEST_F(OutgoingTls, UntrustedServersAreRejected) {
  const Server server(echo(), listening());
  const std::string advice = "; check the CA, the server name, and that the port speaks TLS";
  const struct {
    std::string ca;
    std::string name;
    std::string why;
  } rows[] = {
      {folder_.file("stranger.pem"), "", "unable to get local issuer certificate"},
      {"", "", "unable to get local issuer certificate"},  // the system's authorities
      {folder_.file("ca.pem"), "other.test", "hostname mismatch"},
      {folder_.file("ca.pem"), "127.0.0.2", "IP address mismatch"},
  };
  for (const auto& row : rows) {
    OutgoingOptions options = to(server, {row.ca, "", ""});
    options.server_name = row.name;
    Visitor visitor(options);
    visitor.connect();
    EXPECT_EQ(visitor.loss(), server.listener->bound().text() + ": TLS failed: " + row.why + advice);
    EXPECT_EQ(visitor.connections(), 0);
  }
}

TEST_F(OutgoingTls, SendsItsClientCertificate) {
  std::mutex mutex;
  std::string subject;
  const Server server(
      [&](const Peer& peer, const Link&) {
        const std::lock_guard lock(mutex);
        subject = peer.certificate_subject;
        return std::make_unique<Echo>();
      },
      listening(folder_.file("ca.pem")));
  Visitor visitor(to(server, {folder_.file("ca.pem"), folder_.file("client.pem"), folder_.file("client.key")}));
  ASSERT_TRUE(visitor.arrives()) << visitor.loss();
  EXPECT_EQ(visitor.ask("hello"), "hello");
  const std::lock_guard lock(mutex);
  EXPECT_EQ(subject, "CN=client");
}

TEST_F(OutgoingTls, IsLostWithoutARequiredClientCertificate) {
  const Server server(echo(), listening(folder_.file("ca.pem")));
  Visitor visitor(to(server, trusting()));
  visitor.connect();
  EXPECT_NE(visitor.loss().find("certificate required"), std::string::npos) << visitor.loss();
}

TEST_F(OutgoingTls, APortWithoutTlsIsReported) {
  const Server server(echo());  // echoes the client's handshake
  Visitor visitor(to(server, trusting()));
  visitor.connect();
  EXPECT_NE(visitor.loss().find("that the port speaks TLS"), std::string::npos) << visitor.loss();
}

class Mute final : public Session {
 public:
  std::size_t on_input(std::span<char> input, Output& /*out*/) override { return input.size(); }
};

TEST_F(OutgoingTls, AHandshakeTimesOut) {
  const Server server([](const Peer&, const Link&) { return std::make_unique<Mute>(); });
  OutgoingOptions options = to(server, trusting());
  options.timeout = 50ms;
  Visitor visitor(options);
  visitor.connect();
  EXPECT_EQ(visitor.loss(),
            server.listener->bound().text() + ": TLS handshake timed out; check that the port speaks TLS");
}

TEST_F(OutgoingTls, MessagesBeyondTheBoundAreLost) {
  const Server server(echo(), listening());
  OutgoingOptions options = to(server, trusting());
  options.input_bound = 1000;  // far less than a record
  Visitor visitor(options);
  ASSERT_TRUE(visitor.arrives());
  const std::string text(100'000, 'x');
  EXPECT_EQ(visitor.ask(text), text);  // any amount passes while it is consumed
  visitor.with([&](Outgoing&) { visitor.consumes = false; });
  visitor.send(text);
  EXPECT_NE(visitor.loss().find("more than 1000 bytes"), std::string::npos) << visitor.loss();
}

TEST_F(OutgoingTls, CanBeClosedFromItsCallbacks) {
  const Server server(echo(), listening());
  Visitor visitor(to(server, trusting()));
  visitor.when_bytes = [&](Outgoing&) { visitor.destroy_here(); };
  ASSERT_TRUE(visitor.arrives());
  EXPECT_EQ(visitor.ask("x"), "x");
  EXPECT_TRUE(eventually([&] { return server.counts().open == 0; }));
  EXPECT_EQ(visitor.losses().size(), 0U);
}

TEST_F(OutgoingTls, ErrorsNameTheFile) {
  std::ofstream(folder_.file("empty.pem"));
  const std::string ca = folder_.file("ca.pem");
  const std::string certificate = folder_.file("client.pem");
  const std::string key = folder_.file("client.key");
  const struct {
    TlsClientFiles files;
    std::string message;
  } rows[] = {
      {{"/nowhere", "", ""}, "/nowhere: cannot load CA: No such file or directory; use a PEM file of CA certificates"},
      {{folder_.file("empty.pem"), "", ""}, folder_.file("empty.pem") + ": cannot load CA: "},
      {{ca, certificate, ""}, certificate + ": client certificate and key must be set together"},
      {{ca, "", key}, key + ": client certificate and key must be set together"},
      {{ca, "/nowhere", key},
       "/nowhere: cannot load certificate: No such file or directory; use a PEM file with the leaf certificate first"},
      {{ca, certificate, folder_.file("ca.key")},
       folder_.file("ca.key") + ": key does not match the certificate in " + certificate +
           "; use the key that belongs to it"},
  };
  for (const auto& row : rows) {
    const auto loaded = TlsClientContext::load(row.files);
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().message().find(row.message), 0U) << loaded.error().message();
  }
}

}  // namespace
}  // namespace weir::net
