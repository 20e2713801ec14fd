#include "runtime/frame_cache.h"

#include <tuple>
#include <utility>

namespace perdure::runtime {

namespace {

/// A place in the line and in the table.
constexpr std::size_t kPlaceBytes = 160;

bool is_older(const FrameKey& a, const FrameKey& b) {
  return std::tie(a.execution, a.last_event) < std::tie(b.execution, b.last_event);
}

}  // namespace

std::unique_ptr<replay::Execution> FrameCache::take(const FrameKey& key) {
  Line out;
  return state_.with([&](State& state) -> std::unique_ptr<replay::Execution> {
    const auto found = state.places.find(key.instance);
    if (found != state.places.end() && found->second->key == key) {
      state.remove(found->second, state.counts.hits, out);
      return std::move(out.back().frames);
    }
    ++state.counts.misses;
    if (found != state.places.end()) {
      state.remove(found->second, state.counts.evicted_stale, out);
    }
    return nullptr;
  });
}

void FrameCache::keep(const FrameKey& key, std::unique_ptr<replay::Execution> frames) {
  const std::size_t bytes = frames->bytes() + kPlaceBytes;
  // Made before the lock is taken; what is not admitted is destroyed after it is released.
  Line incoming;
  incoming.push_back({key, std::move(frames), bytes});
  Line out;
  state_.with([&](State& state) { state.admit(std::move(incoming), out); });
}

void FrameCache::State::admit(Line incoming, Line& out) {
  const Kept& kept = incoming.front();
  ++counts.kept;
  const auto found = places.find(kept.key.instance);
  std::uint64_t* refused = nullptr;
  if (closed) {
    refused = &counts.evicted_cleared;
  } else if (kept.frames->has_ended()) {
    refused = &counts.evicted_ended;
  } else if (found != places.end() && is_older(kept.key, found->second->key)) {
    refused = &counts.evicted_stale;
  } else if (limits.count == 0) {
    refused = &counts.evicted_for_count;
  } else if (kept.bytes > limits.bytes) {
    refused = &counts.evicted_for_bytes;
  }
  if (refused != nullptr) {
    ++*refused;
    out.splice(out.end(), incoming);
    return;
  }
  if (found != places.end()) remove(found->second, counts.evicted_stale, out);
  counts.frames += 1;
  counts.bytes += kept.bytes;
  line.splice(line.end(), incoming);
  places[line.back().key.instance] = std::prev(line.end());
  shrink(out);
}

void FrameCache::State::shrink(Line& out) {
  while (counts.frames > limits.count) remove(line.begin(), counts.evicted_for_count, out);
  while (counts.bytes > limits.bytes) remove(line.begin(), counts.evicted_for_bytes, out);
}

void FrameCache::State::remove(Line::iterator place, std::uint64_t& counter, Line& out) {
  ++counter;
  counts.frames -= 1;
  counts.bytes -= place->bytes;
  places.erase(place->key.instance);
  out.splice(out.end(), line, place);
}

void FrameCache::State::remove_all(Line& out) {
  while (!line.empty()) remove(line.begin(), counts.evicted_cleared, out);
}

void FrameCache::note_check(ReplayCheckResult result) {
  state_.with([&](State& state) {
    if (result == ReplayCheckResult::kUnread) {
      ++state.counts.checks_unread;
      return;
    }
    ++state.counts.checks;
    if (result == ReplayCheckResult::kDiffers) ++state.counts.checks_differed;
  });
}

void FrameCache::clear() {
  Line out;
  state_.with([&](State& state) { state.remove_all(out); });
}

void FrameCache::close() {
  Line out;
  state_.with([&](State& state) {
    state.closed = true;
    state.remove_all(out);
  });
}

void FrameCache::set_limits(FrameLimits limits) {
  Line out;
  state_.with([&](State& state) {
    state.limits = limits;
    state.shrink(out);
  });
}

FrameCounts FrameCache::counts() const {
  return state_.with([](const State& state) { return state.counts; });
}

}  // namespace perdure::runtime
