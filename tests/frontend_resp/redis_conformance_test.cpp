// Sends the same bytes to a redis-server and to this frontend, and compares the replies to commands that both have.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/frontend_resp/talk.h"
#include "tests/redis_process.h"

namespace weir::frontend {
namespace {

TEST(RespFrontendAgainstRedis, OpenServersAnswerAlike) {
  const RedisProcess redis;
  RespServer server;
  for (const std::string sent : {
           "PING\r\nping a\r\nPING a b\r\nECHO\r\nECHO a\r\nECHO a b\r\n",
           "SELECT 0\r\nSELECT\r\nSELECT x\r\nSELECT 99\r\nSELECT -1\r\n",
           "NOSUCH\r\nNOSUCH a 'b c' \"d\\r\\ne\"\r\n",
           "AUTH\r\nAUTH a\r\nAUTH a b c\r\nAUTH default x\r\n",
           "HELLO x\r\nHELLO 1\r\nHELLO 3 FOO\r\nHELLO 3 AUTH a\r\nHELLO 3 SETNAME\r\nHELLO 2 SETNAME 'a b'\r\n",
           "CLIENT\r\nCLIENT NOSUCH\r\nCLIENT SETNAME\r\nCLIENT SETNAME 'a b'\r\nCLIENT GETNAME\r\nCLIENT ID x\r\n",
           "CLIENT SETNAME a\r\nCLIENT GETNAME\r\nRESET\r\nCLIENT GETNAME\r\n",
           "CLIENT NO-EVICT ON\r\nCLIENT NO-EVICT off\r\nCLIENT NO-EVICT x\r\n",
           "CLIENT REPLY SKIP\r\nPING\r\nPING\r\nCLIENT REPLY OFF\r\nPING\r\nNOSUCH\r\nCLIENT REPLY ON\r\nPING\r\n",
           "CLIENT REPLY SKIP\r\nCLIENT REPLY SKIP\r\nPING\r\nPING\r\nCLIENT REPLY x\r\n",
           "CLIENT REPLY OFF\r\nCLIENT REPLY SKIP\r\nPING\r\nPING\r\nCLIENT REPLY ON\r\n",
           "CONFIG\r\nCONFIG GET\r\nCONFIG GET nosuch\r\nCONFIG GET save\r\nCONFIG GET appendonly\r\n",
           "COMMAND COUNT x\r\nCOMMAND INFO nosuch\r\nCOMMAND DOCS nosuch\r\nCOMMAND NOSUCH\r\n",
           "RESET a\r\nRESET\r\nPING\r\nQUIT\r\nPING\r\n",
           "EXEC\r\nDISCARD\r\nEXEC a\r\nMULTI a\r\nMULTI\r\nEXEC\r\nEXEC\r\n",
           "MULTI\r\nPING\r\nECHO a\r\nMULTI\r\nSELECT x\r\nCLIENT GETNAME\r\nEXEC\r\nPING\r\n",
           "MULTI\r\nPING\r\nDISCARD\r\nDISCARD\r\nEXEC\r\n",
           "MULTI\r\nPING\r\nNOSUCH a\r\nPING\r\nEXEC\r\nPING\r\n",
           "MULTI\r\nECHO\r\nEXEC\r\nMULTI\r\nCLIENT NOSUCH\r\nEXEC\r\nMULTI\r\nCLIENT ID x\r\nEXEC\r\n",
           "MULTI\r\nPING\r\nEXEC a\r\nEXEC\r\nMULTI\r\nDISCARD a\r\nEXEC\r\n",
           "MULTI\r\nPING\r\nRESET\r\nEXEC\r\nMULTI\r\nPING\r\nQUIT\r\n",
           "CLIENT REPLY SKIP\r\nMULTI\r\nPING\r\nEXEC\r\n",
           "MULTI\r\nPING\r\nHELLO x\r\nEXEC\r\nHELLO 4\r\n",
       }) {
    EXPECT_EQ(Talk(server).send(sent), redis.ask_bytes(sent)) << sent;
  }
}

TEST(RespFrontendAgainstRedis, ServersThatAskForATokenAnswerAlike) {
  const RedisProcess redis({"--requirepass", "secret"});
  RespServer server(asking_for_tokens());
  for (const std::string sent : {
           "PING\r\nNOSUCH\r\nECHO\r\nCLIENT NOSUCH\r\nRESET\r\nHELLO\r\nHELLO 3\r\nQUIT\r\n",
           "AUTH wrong\r\nAUTH default wrong\r\nPING\r\nAUTH secret\r\nPING\r\nAUTH wrong\r\nPING\r\nRESET\r\nPING\r\n",
           "AUTH default secret\r\nPING\r\n",
           "HELLO 3 AUTH default wrong\r\nPING\r\n",
           "MULTI\r\nDISCARD\r\nEXEC\r\nAUTH secret\r\nMULTI\r\nPING\r\nAUTH wrong\r\nPING\r\nEXEC\r\n",
           "*11\r\n",
           "*1\r\n$16385\r\n",
       }) {
    EXPECT_EQ(Talk(server).send(sent), redis.ask_bytes(sent)) << sent;
  }
}

}  // namespace
}  // namespace weir::frontend
