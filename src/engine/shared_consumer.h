// A consumer's key as text for a shared store: readable, and different for different consumers, since every value has
// its length before it. `user:5:alice`, `ip:12:192.0.2.0/24+route:11:POST /login`.
#pragma once

#include <string>
#include <string_view>

namespace weir::engine {

// Of a key that consumer.h wrote.
void append_shared_consumer(std::string& out, std::string_view key);

// Of a key that descriptors.h wrote.
void append_shared_descriptor(std::string& out, std::string_view key);

}  // namespace weir::engine
