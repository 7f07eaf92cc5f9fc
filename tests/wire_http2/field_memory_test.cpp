#include "wire/http2/request_fields.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::wire::http2 {
namespace {

bool is_malformed(FieldMemory& memory, const std::string& name, const std::string& value) {
  memory.begin();
  const FieldFinding found = memory.find_or_examine(name, value);
  return found.malformed || found.malformed_value;
}

TEST(FieldMemory, FieldThatDiffersInOneByteIsExaminedAgain) {
  FieldMemory memory;
  for (std::size_t size = 1; size < 130; ++size) {
    const std::string good(size, 'a');
    for (std::size_t i = 0; i < size; ++i) {
      std::string bad = good;
      bad[i] = '\n';
      ASSERT_FALSE(is_malformed(memory, "name", good)) << size;
      ASSERT_TRUE(is_malformed(memory, "name", bad)) << i << " of " << size;
      ASSERT_FALSE(is_malformed(memory, good, "value")) << size;
      ASSERT_TRUE(is_malformed(memory, bad, "value")) << i << " of " << size;
    }
  }
}

TEST(FieldMemory, NameAndValueAreNotConfused) {
  FieldMemory memory;
  EXPECT_EQ(memory.find_or_examine(":path", "/a").field, Field::path);
  memory.begin();
  EXPECT_TRUE(memory.find_or_examine(":pat", "h/a").malformed);
  memory.begin();
  EXPECT_EQ(memory.find_or_examine(":path", "/a").field, Field::path);
}

TEST(FieldMemory, FieldsBeyondItsCapacityAreExamined) {
  FieldMemory memory;
  for (int round = 0; round < 2; ++round) {
    memory.begin();
    for (int i = 0; i < 100; ++i) {
      EXPECT_FALSE(memory.find_or_examine("name", "value").malformed) << i;
      EXPECT_TRUE(memory.find_or_examine("Name", "value").malformed) << i;
    }
  }
}

}  // namespace
}  // namespace weir::wire::http2
