#include "base/object_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::base {
namespace {

// Counts its instances.
struct Counted {
  explicit Counted(int& its_count, int its_value = 0) : count(its_count), value(its_value) { ++count; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count; }

  int& count;
  int value;
};

TEST(ObjectPool, HandsOutWhatWasReleasedLastAsItWas) {
  int count = 0;
  ObjectPool<Counted> pool;
  Counted& first = pool.acquire(count, 1);
  Counted& second = pool.acquire(count, 2);
  EXPECT_FALSE(pool.has_idle());
  first.value = 11;
  pool.release(second);
  pool.release(first);
  EXPECT_TRUE(pool.has_idle());
  EXPECT_EQ(&pool.acquire(count, 3), &first);
  EXPECT_EQ(first.value, 11);
  EXPECT_EQ(&pool.acquire(count, 4), &second);
  EXPECT_EQ(pool.size(), 2U);
  EXPECT_EQ(count, 2);
}

TEST(ObjectPool, ObjectsStayWhereTheyAreWhileOthersAreMade) {
  int count = 0;
  ObjectPool<Counted> pool;
  std::vector<Counted*> all;
  for (int i = 0; i < 100; ++i) all.push_back(&pool.acquire(count, i));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)]->value, i);
  for (Counted* object : all) pool.release(*object);
  for (int i = 0; i < 100; ++i) static_cast<void>(pool.acquire(count));
  EXPECT_EQ(count, 100);
}

TEST(ObjectPool, DestroysAlsoWhatIsInUse) {
  int count = 0;
  {
    ObjectPool<Counted> pool;
    static_cast<void>(pool.acquire(count));
    pool.release(pool.acquire(count));
    EXPECT_EQ(count, 2);
  }
  EXPECT_EQ(count, 0);
}

TEST(IdleObjects, KeepsNoMoreThanItMay) {
  int count = 0;
  {
    IdleObjects<Counted, 2> idle;
    std::vector<std::unique_ptr<Counted>> used;
    for (int i = 0; i < 3; ++i) used.push_back(idle.take(count, i));
    for (auto& object : used) idle.put_back(std::move(object));
    EXPECT_EQ(idle.size(), 2U);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(idle.take(count)->value, 1);  // destroyed by its user
    EXPECT_EQ(count, 1);
  }
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace weir::base
