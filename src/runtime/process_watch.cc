#include "runtime/process_watch.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace perdure::runtime {

namespace {

/// Heartbeats of the observer that must be committed while another one is silent.
constexpr std::int64_t kOwnBeats = 3;

/// A counter may stand still between two looks although it moves once per interval; longer than
/// this, the observer begins to beat itself.
constexpr int kQuietIntervals = 2;

}  // namespace

ProcessWatch::ProcessWatch(Provider& provider, ProcessLife& life, ProcessWatchOptions options)
    : provider_(provider), life_(life), options_(options) {}

Step ProcessWatch::poll_once(SteadyTime now, bool store_changed) {
  list_is_old_ = list_is_old_ || store_changed;
  if (now < due_) return {};
  due_ = now + options_.interval;
  const Status looked = must_list() ? list(now) : probe();
  if (!looked.ok()) return {.trouble = looked.error()};
  life_.beat_while_idle(someone_falls_silent(now));
  return take_over_dead(now);
}

bool ProcessWatch::must_list() const {
  return list_is_old_ || std::any_of(peers_.begin(), peers_.end(), [](const auto& entry) {
           return entry.second.owes_beats;
         });
}

Status ProcessWatch::list(SteadyTime now) {
  PERDURE_ASSIGN_OR_RETURN(const std::vector<ProcessInfo> processes, provider_.list_processes());
  list_is_old_ = false;
  std::map<Epoch, Peer> seen;
  bool registered = false;
  for (const ProcessInfo& process : processes) {
    if (process.epoch == life_.epoch()) {
      registered = true;
    } else {
      seen.emplace(process.epoch, look(process, now));
    }
  }
  peers_ = std::move(seen);
  listed_at_ = now;
  if (registered) return {};
  return lock_lost("process " + std::to_string(life_.epoch().value) +
                   " was ended by another one: register anew");
}

ProcessWatch::Peer ProcessWatch::look(const ProcessInfo& process, SteadyTime now) const {
  Peer peer;
  peer.host = process.host;
  peer.pid = process.pid;
  peer.owes_beats = process.holds && !process.problem;
  peer.released = process.lock_released;
  peer.heartbeat = process.heartbeat;
  const auto before = peers_.find(process.epoch);
  const bool looked = now - listed_at_ < options_.dead_after;
  const bool unchanged = looked && before != peers_.end() && before->second.owes_beats &&
                         before->second.heartbeat == peer.heartbeat;
  peer.since = unchanged ? before->second.since : now;
  peer.own_beats = unchanged ? before->second.own_beats : life_.beats();
  return peer;
}

Status ProcessWatch::probe() {
  if (peers_.empty()) return {};
  std::vector<Epoch> epochs;
  for (const auto& [epoch, peer] : peers_) epochs.push_back(epoch);
  PERDURE_ASSIGN_OR_RETURN(const std::vector<Epoch> released, provider_.released_processes(epochs));
  for (const Epoch epoch : released) peers_[epoch].released = true;
  return {};
}

bool ProcessWatch::is_silent(const Peer& peer, SteadyTime now) const {
  return peer.owes_beats && now - peer.since >= options_.dead_after &&
         life_.beats() - peer.own_beats >= kOwnBeats;
}

bool ProcessWatch::someone_falls_silent(SteadyTime now) const {
  return std::any_of(peers_.begin(), peers_.end(), [&](const auto& entry) {
    return entry.second.owes_beats &&
           now - entry.second.since >= kQuietIntervals * options_.interval;
  });
}

Step ProcessWatch::take_over_dead(SteadyTime now) {
  Step step;
  for (auto entry = peers_.begin(); entry != peers_.end();) {
    const auto& [epoch, peer] = *entry;
    if (!peer.released && !is_silent(peer, now)) {
      ++entry;
      continue;
    }
    const Result<bool> ended = take_over(epoch, peer);
    if (!ended.ok()) {
      // The others must not wait for this one.
      step.trouble = ended.error();
      ++entry;
      continue;
    }
    step.worked = step.worked || *ended;
    entry = peers_.erase(entry);
  }
  return step;
}

Result<bool> ProcessWatch::take_over(Epoch epoch, const Peer& peer) {
  const Result<ProcessEnded> ended =
      provider_.take_over({.epoch = epoch, .max_losses = options_.max_losses});
  if (!ended.ok()) {
    if (ended.code() == ErrorCode::kNotFound) return false;
    return ended.error();
  }
  for (const Error& problem : ended->problems) {
    log::error("a work row cannot be read and was set aside", {{"error", problem.message}});
  }
  if (!ended->changed) return false;
  log::warning("a dead process was taken over",
               {{"epoch", epoch.value},
                {"host", peer.host},
                {"pid", peer.pid},
                {"sign", peer.released ? "its lock is released" : "its heartbeat stands still"},
                {"claims", ended->freed_claims},
                {"locks", ended->freed_locks},
                {"ended_rows", ended->ended_rows}});
  return true;
}

}  // namespace perdure::runtime
