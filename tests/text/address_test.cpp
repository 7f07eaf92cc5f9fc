#include "text/address.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace weir::text {
namespace {

std::string text_of(std::string_view text) {
  const auto address = Address::parse(text);
  return address ? address->text() : "none";
}

bool in(std::string_view range, std::string_view address) {
  return AddressRange::parse(range)->contains(*Address::parse(address));
}

std::string refusal(std::string_view text) {
  const auto range = AddressRange::parse(text);
  return range ? "" : range.error().what;
}

TEST(AnAddress, IsReadAsItIsWritten) {
  EXPECT_EQ(text_of("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(text_of("2001:DB8:0:0::1"), "2001:db8::1");
  EXPECT_EQ(text_of("::"), "::");
  for (const auto* text : {"", "10.1.2", "10.1.2.3.4", "010.1.2.3", "10.1.2.256", "0x0a.1.2.3", "10.1.2.3:80", "[::1]",
                           "fe80::1%eth0", "::1::", "localhost", " 10.1.2.3", "10.1.2.3 "}) {
    EXPECT_EQ(text_of(text), "none") << text;
  }
  EXPECT_EQ(text_of(std::string_view("10.1.2.3\0", 9)), "none");
}

std::string endpoint_of(std::string_view text) {
  const auto address = Address::parse_endpoint(text);
  return address ? address->text() : "none";
}

struct EndpointRow {
  const char* text;
  const char* address;
};

TEST(AnEndpoint, IsItsAddressWithoutPortBracketsAndZone) {
  const std::vector<EndpointRow> rows = {
      {"192.0.2.7", "192.0.2.7"},
      {"192.0.2.7:51234", "192.0.2.7"},
      {"192.0.2.7:0", "192.0.2.7"},
      {"192.0.2.7:65535", "192.0.2.7"},
      {"192.0.2.7:00080", "192.0.2.7"},
      {"192.0.2.7:_http", "192.0.2.7"},
      {"[192.0.2.7]", "192.0.2.7"},
      {"[192.0.2.7]:80", "192.0.2.7"},
      {"2001:db8::1", "2001:db8::1"},
      {"[2001:db8::1]", "2001:db8::1"},
      {"[2001:DB8::1]:443", "2001:db8::1"},
      {"[2001:db8::1]:_x-1", "2001:db8::1"},
      {"2001:db8::1:443", "2001:db8::1:443"},  // a valid address
      {"::", "::"},
      {"::1", "::1"},
      {"::ffff:192.0.2.7", "192.0.2.7"},
      {"[::ffff:192.0.2.7]:51234", "192.0.2.7"},
      {"::FFFF:c000:0207", "192.0.2.7"},
      {"fe80::1%eth0", "fe80::1"},
      {"[fe80::1%eth0]:51234", "fe80::1"},
      {"fe80::1%25eth0", "fe80::1"},
      {"fe80::1%3", "fe80::1"},
  };
  for (const EndpointRow& row : rows) EXPECT_EQ(endpoint_of(row.text), row.address) << row.text;
}

TEST(AnEndpoint, ThatHasNoAddressIsNone) {
  for (const auto* text :
       {"", " ", "foo", "unknown", "localhost", "localhost:80", "@", "unix:", "unix:/run/app.sock", "-", "null",
        // ports
        "192.0.2.7:", "192.0.2.7:65536", "192.0.2.7:000080", "192.0.2.7:+1", "192.0.2.7:-1", "192.0.2.7: 1",
        "192.0.2.7:80:80", "192.0.2.7:http", "192.0.2.7:_", "192.0.2.7:_a b", ":80", "::ffff:192.0.2.7:80",
        // brackets
        "[", "]", "[]", "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]443", "[2001:db8::1]:", "[2001:db8::1]:x",
        "[[2001:db8::1]]", "[2001:db8::1]]", "[ 2001:db8::1]", "[foo]", "[2001:db8::1]:443 ",
        // zones
        "fe80::1%", "fe80::1% ", "fe80::1%a%b", "fe80::1%\n", "192.0.2.7%eth0", "%eth0", "[fe80::1]%eth0",
        // blanks, leading zeros, other bases, ranges, lists
        " 192.0.2.7", "192.0.2.7 ", "\t192.0.2.7", "192.0.2.7\n", "192.0.02.7", "192.0.2.007", "0300.0.2.7",
        "0xc0.0.2.7", "192.0.519", "3221225991", "192.0.2.0/24", "192.0.2.7, 192.0.2.8", "192.0.2.256", "192.0.2",
        "192.0.2.7.", "\"192.0.2.7\"", "/192.0.2.7:80", "2001:db8:::1", "12345::1", "2001:db8::g"}) {
    EXPECT_EQ(endpoint_of(text), "none") << text;
  }
  EXPECT_EQ(endpoint_of(std::string_view("192.0.2.7\0", 10)), "none");
  EXPECT_EQ(endpoint_of(std::string_view("192.0.2.7:80\0", 13)), "none");
  EXPECT_EQ(endpoint_of(std::string_view("fe80::1%\0", 9)), "none");
}

TEST(AnAddress, OfIPv4InIPv6IsOfIPv4) {
  EXPECT_EQ(text_of("::ffff:10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(text_of("0:0:0:0:0:FFFF:0a01:0203"), "10.1.2.3");
  EXPECT_EQ(Address::parse("::ffff:10.1.2.3"), Address::parse("10.1.2.3"));
}

TEST(AnAddress, HasANetworkForEachPrefix) {
  const auto v4 = *Address::parse("255.255.255.255");
  EXPECT_EQ(v4.network(32).text(), "255.255.255.255");
  EXPECT_EQ(v4.network(31).text(), "255.255.255.254");
  EXPECT_EQ(v4.network(9).text(), "255.128.0.0");
  EXPECT_EQ(v4.network(8).text(), "255.0.0.0");
  EXPECT_EQ(v4.network(0).text(), "0.0.0.0");
  const auto v6 = *Address::parse("2001:db8:1:2:3:4:5:6");
  EXPECT_EQ(v6.network(128).text(), "2001:db8:1:2:3:4:5:6");
  EXPECT_EQ(v6.network(64).text(), "2001:db8:1:2::");
  EXPECT_EQ(v6.network(33).text(), "2001:db8::");
  EXPECT_EQ(v6.network(0).text(), "::");
}

TEST(ARange, ContainsItsAddressesAndNoOthers) {
  EXPECT_TRUE(in("10.0.0.0/8", "10.255.255.255"));
  EXPECT_TRUE(in("10.0.0.0/8", "::ffff:10.0.0.1"));
  EXPECT_FALSE(in("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(in("10.1.2.3", "10.1.2.3"));
  EXPECT_FALSE(in("10.1.2.3", "10.1.2.4"));
  EXPECT_TRUE(in("0.0.0.0/0", "255.1.2.3"));
  EXPECT_TRUE(in("2001:db8::/32", "2001:db8:ffff::1"));
  EXPECT_FALSE(in("2001:db8::/32", "2001:db9::1"));
  EXPECT_TRUE(in("::ffff:10.0.0.0/104", "10.1.2.3"));
  // No IPv6 range contains an IPv4 address, not even ::/0.
  EXPECT_FALSE(in("::/0", "10.1.2.3"));
  EXPECT_FALSE(in("0.0.0.0/0", "::1"));
}

TEST(ARange, IsWrittenWithoutAPrefixForOneAddress) {
  EXPECT_EQ(AddressRange::parse("10.0.0.0/8")->text(), "10.0.0.0/8");
  EXPECT_EQ(AddressRange::parse("10.0.0.1/32")->text(), "10.0.0.1");
  EXPECT_EQ(AddressRange::parse("::1")->text(), "::1");
}

TEST(ARange, WithAMistakeSaysWhatToWrite) {
  EXPECT_EQ(refusal("10.1.2.3/8"),
            "has bits beyond its prefix: write 10.0.0.0/8 for the range, or 10.1.2.3 for a single address");
  EXPECT_EQ(refusal("2001:db8::1/32"),
            "has bits beyond its prefix: write 2001:db8::/32 for the range, or 2001:db8::1 for a single address");
  EXPECT_NE(refusal("::ffff:10.0.0.0/90"), "");
  for (const auto* text :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/255.0.0.0"}) {
    EXPECT_EQ(refusal(text), "the prefix length must be a number from 0 to 32") << text;
  }
  EXPECT_EQ(refusal("::/129"), "the prefix length must be a number from 0 to 128");
  for (const auto* text : {"", "/8", "10/8", "host/8", "10.0.0.0 /8"}) {
    EXPECT_EQ(refusal(text), "not an IP address or range: write it as 10.0.0.0/8 or 2001:db8::/32") << text;
  }
}

}  // namespace
}  // namespace weir::text
