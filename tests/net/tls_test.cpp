// TLS: accepted clients, reloaded certificates, and batches.
#include <csignal>
#include <fstream>
#include <future>
#include <mutex>
#include <vector>

#include "net/tls_context.h"
#include "tests/net/certificates.h"
#include "tests/net/server.h"

namespace weir::net {
namespace {

class Tls : public testing::Test {
 protected:
  Tls() { std::signal(SIGPIPE, SIG_IGN); }  // OpenSSL's client writes without MSG_NOSIGNAL

  void SetUp() override {
    server_identity_.write(files_.certificate_chain, files_.key);
    ca_.write(folder_.file("ca.pem"), folder_.file("ca.key"));
  }

  [[nodiscard]] ListenOptions options(const std::vector<std::string>& applications = {}) {
    auto loaded = TlsContext::load(files_, applications);
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message());
    context_ = *loaded;
    ListenOptions with;
    with.tls = context_;
    return with;
  }

  [[nodiscard]] MakeSession recording_echo() {
    return [this](const Peer& peer, const Link&) {
      const std::lock_guard lock(mutex_);
      peers_.push_back(peer);
      return std::make_unique<Echo>();
    };
  }

  Folder folder_;
  Identity ca_ = make_identity("weir test CA");
  Identity server_identity_ = make_identity("server", &ca_);
  TlsFiles files_{folder_.file("server.pem"), folder_.file("server.key"), ""};
  std::shared_ptr<TlsContext> context_;
  TlsSettings trusting_{&ca_, nullptr, "", 0};
  std::mutex mutex_;
  std::vector<Peer> peers_;
};

TEST_F(Tls, Echoes) {
  const Server server(recording_echo(), options());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    trusting_.version = version;
    TlsClient client(server.listener->bound(), trusting_);
    ASSERT_TRUE(client.connected());
    EXPECT_EQ(client.ask("hello"), "hello");
    const std::string large(100'000, 'x');  // fits into the system's buffers, because nothing reads while it is sent
    EXPECT_EQ(client.ask(large), large);
  }
  ASSERT_EQ(peers_.size(), 2U);
  EXPECT_TRUE(peers_[0].tls);
  EXPECT_EQ(peers_[0].certificate_subject, "");
}

TEST_F(Tls, OldVersionsAreRejected) {
  const Server server(echo(), options());
  trusting_.version = TLS1_1_VERSION;
  EXPECT_FALSE(TlsClient(server.listener->bound(), trusting_).connected());
  EXPECT_TRUE(eventually([&] { return server.counts().handshake_failures == 1 && server.counts().open == 0; }));
}

TEST_F(Tls, ClientOfAnotherCaDoesNotTrustUs) {
  const Server server(echo(), options());
  const Identity other = make_identity("other CA");
  EXPECT_FALSE(TlsClient(server.listener->bound(), {&other, nullptr, "", 0}).connected());
  EXPECT_TRUE(eventually([&] { return server.counts().open == 0; }));
}

TEST_F(Tls, ClientCertificateIsRequiredAndReported) {
  files_.client_ca = folder_.file("ca.pem");
  const Server server(recording_echo(), options());
  const Identity alice = make_identity("alice", &ca_);
  const Identity other_ca = make_identity("other CA");
  const Identity mallory = make_identity("mallory", &other_ca);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_EQ(TlsClient(server.listener->bound(), {&ca_, &alice, "", version}).ask("x"), "x");
    EXPECT_EQ(TlsClient(server.listener->bound(), {&ca_, nullptr, "", version}).ask("x"), "");
    EXPECT_EQ(TlsClient(server.listener->bound(), {&ca_, &mallory, "", version}).ask("x"), "");
  }
  ASSERT_EQ(peers_.size(), 2U);
  EXPECT_EQ(peers_[0].certificate_subject, "CN=alice");
  EXPECT_TRUE(eventually([&] { return server.counts().handshake_failures == 4; }));
}

TEST_F(Tls, ApplicationIsChosenByOurPreference) {
  const Server server(recording_echo(), options({"h2", "http/1.1"}));
  const auto ask_with = [&](std::string_view alpn) {
    return TlsClient(server.listener->bound(), {&ca_, nullptr, alpn, 0}).ask("x");
  };
  EXPECT_EQ(ask_with("\x08http/1.1\x02h2"), "x");
  EXPECT_EQ(ask_with("\x08http/1.1"), "x");
  EXPECT_EQ(ask_with(""), "x");
  EXPECT_EQ(ask_with("\x04spdy"), "");
  ASSERT_EQ(peers_.size(), 3U);
  EXPECT_EQ(peers_[0].application, "h2");
  EXPECT_EQ(peers_[1].application, "http/1.1");
  EXPECT_EQ(peers_[2].application, "");
}

TEST_F(Tls, PlainBytesAreRejected) {
  const Server server(echo(), options());
  for (const char* text : {"GET / HTTP/1.1\r\n\r\n", "*1\r\n$4\r\nPING\r\n", "\x16\x03\x01\xff\xff garbage garbage"}) {
    Client client = server.connect();
    client.send(text);
    client.half_close();
    EXPECT_LT(client.receive_to_end().size(), 16U) << "an alert, or nothing";
  }
  EXPECT_TRUE(eventually([&] { return server.counts().open == 0; }));
  EXPECT_GE(server.counts().handshake_failures, 2U);
}

TEST_F(Tls, HandshakeTimesOut) {
  ListenOptions with = options();
  with.connection.timeouts.handshake = 30ms;
  const Server server(echo(), with);
  Client silent = server.connect();
  Client slow = server.connect();
  slow.send("\x16\x03\x01");
  EXPECT_EQ(silent.receive_to_end(), "");
  EXPECT_EQ(slow.receive_to_end(), "");
  EXPECT_EQ(server.counts().timed_out, 2U);
}

TEST_F(Tls, ReloadedCertificateIsUsedByNewConnections) {
  const Server server(echo(), options());
  TlsClient before(server.listener->bound(), trusting_);
  EXPECT_EQ(before.server_name(), "server");
  make_identity("renewed", &ca_).write(files_.certificate_chain, files_.key);
  ASSERT_TRUE(context_->reload().has_value());
  TlsClient after(server.listener->bound(), trusting_);
  EXPECT_EQ(after.server_name(), "renewed");
  EXPECT_EQ(before.ask("x"), "x");
  EXPECT_EQ(after.ask("x"), "x");
}

TEST_F(Tls, InvalidFilesChangeNothingAndAreNamed) {
  const Server server(echo(), options());
  const auto reload_error = [&] {
    const auto reloaded = context_->reload();
    EXPECT_FALSE(reloaded.has_value());
    return reloaded ? "" : reloaded.error().message();
  };
  const Identity other = make_identity("other", &ca_);
  other.write(files_.certificate_chain, folder_.file("unused"));
  EXPECT_EQ(reload_error(), files_.key + ": key does not match the certificate in " + files_.certificate_chain +
                                "; use the key that belongs to it");
  std::ofstream(files_.certificate_chain) << "no certificate";
  EXPECT_TRUE(reload_error().starts_with(files_.certificate_chain + ": cannot load certificate: no start line"))
      << reload_error();
  std::filesystem::remove(files_.certificate_chain);
  EXPECT_TRUE(reload_error().starts_with(files_.certificate_chain + ": cannot load certificate: No such file"))
      << reload_error();
  TlsClient client(server.listener->bound(), trusting_);
  EXPECT_EQ(client.server_name(), "server");
  EXPECT_EQ(client.ask("x"), "x");
}

TEST_F(Tls, KeyWithAPassphraseIsRejectedWithoutAPrompt) {
  std::FILE* const file = std::fopen(files_.key.c_str(), "w");
  const std::string passphrase = "secret";
  PEM_write_PrivateKey(file, server_identity_.key.get(), EVP_aes_256_cbc(),
                       reinterpret_cast<const unsigned char*>(passphrase.data()), 6, nullptr, nullptr);
  std::fclose(file);
  const auto loaded = TlsContext::load(files_);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_TRUE(loaded.error().message().starts_with(files_.key + ": cannot load key")) << loaded.error().message();
}

TEST_F(Tls, InvalidClientCaIsNamed) {
  files_.client_ca = folder_.file("none.pem");
  const auto loaded = TlsContext::load(files_);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_TRUE(loaded.error().message().starts_with(files_.client_ca + ": cannot load client CA: No such file"))
      << loaded.error().message();
}

TEST_F(Tls, CloseIsNotifiedInBothDirections) {
  LineCounts counts;
  const Server server(lines(counts), options());
  TlsClient client(server.listener->bound(), trusting_);
  EXPECT_TRUE(client.send("a\nb\nhalf"));
  client.say_end();
  EXPECT_EQ(client.receive(100), "a\nb\n");
  EXPECT_TRUE(client.ended_well());
  EXPECT_EQ(counts.ends, 1);
}

TEST_F(Tls, RecordsThatArriveTogetherAreOneBatch) {
  LineCounts counts;
  const Server server(lines(counts), options(), 1, folder_.socket());  // TCP would pace them
  TlsClient client(server.listener->bound(), trusting_);
  EXPECT_EQ(client.ask("a\n"), "a\n");
  counts.calls = 0;
  // The loop is busy until all have arrived.
  std::promise<void> begun;
  std::promise<void> sent;
  (*server.loops)[0].post([&] {
    begun.set_value();
    sent.get_future().wait();
  });
  begun.get_future().wait();
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(client.send("line\n"));
  sent.set_value();
  EXPECT_EQ(client.receive(250).size(), 250U);
  EXPECT_EQ(counts.calls, 1);
}

TEST_F(Tls, InputBeyondTheBoundWaitsForTheSession) {
  LineCounts counts;
  ListenOptions with = options();
  with.connection.input_bound = 100;  // far less than a record
  const Server server(lines(counts), with);
  TlsClient client(server.listener->bound(), trusting_);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + '\n';
  EXPECT_EQ(client.ask(text), text);
  EXPECT_TRUE(client.send(std::string(100, 'x')));
  EXPECT_EQ(client.receive(1), "");
  EXPECT_EQ(server.counts().overlong, 1U);
}

TEST_F(Tls, DrainClosesCleanly) {
  const Server server(echo(), options());
  TlsClient client(server.listener->bound(), trusting_);
  EXPECT_EQ(client.ask("x"), "x");
  server.listener->start_drain();
  EXPECT_EQ(client.receive(1), "");
  EXPECT_TRUE(client.ended_well());
}

}  // namespace
}  // namespace weir::net
