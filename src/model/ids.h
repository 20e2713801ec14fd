#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/strong_id.h"

/// Identities. Surrogate keys are sequential and never used twice in the life of a store.
namespace perdure {

/// Surrogate key of an instance; what every other table refers to. A deleted instance's key never
/// comes back, even when its text id does.
using InstanceKey = StrongId<struct InstanceKeyTag, std::int64_t>;

/// 1 for the first life of an instance; continue-as-new and a new start on an ended id take the
/// next.
using ExecutionNo = StrongId<struct ExecutionNoTag, std::int64_t>;

/// Position in the history of one execution: 1, 2, 3 .. without gaps.
using EventId = StrongId<struct EventIdTag, std::int64_t>;

/// Row of the orchestrator queue.
using MessageId = StrongId<struct MessageIdTag, std::int64_t>;

/// Row of the worker queue.
using WorkId = StrongId<struct WorkIdTag, std::int64_t>;

/// A registration of a process in the store; never used twice.
using Epoch = StrongId<struct EpochTag, std::int64_t>;

/// Position in the feed of status changes.
using ChangeSeq = StrongId<struct ChangeSeqTag, std::int64_t>;

/// The fence of a claim: unique for the life of the store, because an epoch is never given twice
/// and a process never counts twice. Made by the claimer *before* it claims (see TokenMint), so
/// that a cancel that arrives right after the commit already finds the token registered.
struct LockToken {
  Epoch epoch;
  std::int64_t serial = 0;

  auto operator<=>(const LockToken&) const = default;
};

std::ostream& operator<<(std::ostream& out, const LockToken& token);
std::string to_string(const LockToken& token);

/// Longest instance id, name, queue, version or request id, in bytes of UTF-8.
inline constexpr std::size_t kMaxIdBytes = 255;

/// Ok for 1 to 255 bytes of valid UTF-8 without NUL; otherwise InvalidArgument that names `field`
/// and says what is wrong.
Status check_id(std::string_view field, std::string_view id);

}  // namespace perdure

template <>
struct std::hash<perdure::LockToken> {
  std::size_t operator()(const perdure::LockToken& token) const noexcept {
    return std::hash<std::int64_t>{}(token.epoch.value * 0x9E3779B97F4A7C15LL) ^
           std::hash<std::int64_t>{}(token.serial);
  }
};
