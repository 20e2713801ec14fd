// A saga: when a later step fails, what was done before is undone, in reverse.

#include <iostream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

// [contracts]
struct Trip {
  std::string from, to;
};
struct Booking {
  std::string id;
  int cents = 0;
};
PERDURE_JSON(Trip, from, to)
PERDURE_JSON(Booking, id, cents)

constexpr pd::Activity<Booking(Trip)> book_flight{"book_flight"};
constexpr pd::Activity<void(Booking)> cancel_flight{"cancel_flight"};
constexpr pd::Activity<Booking(int)> charge{"charge"};
constexpr pd::Activity<void(Booking)> refund{"refund"};
constexpr pd::Activity<std::string(Trip)> book_hotel{"book_hotel"};
constexpr pd::Orchestration<std::string(Trip)> travel{"travel"};
// [/contracts]

// [orchestration]
pd::Task<std::string> run_travel(pd::OrchestrationContext& ctx, Trip trip) {
  Booking flight = co_await ctx.call(book_flight, trip).undo_with(cancel_flight);
  co_await ctx.call(charge, flight.cents).undo_with(refund);  // an undo takes the call's result
  co_return co_await ctx.call(book_hotel, trip, {.retry = pd::retry(3, 10ms)});
}
// [/orchestration]

// [activities]
std::string do_book_hotel(pd::ActivityContext& ctx, Trip trip) {
  std::cout << "hotel in " << trip.to << ": attempt " << ctx.attempt() << '\n';
  if (ctx.attempt() < 2) throw std::runtime_error("no answer");                // tried again
  throw pd::Failed("sold_out", "no room in " + trip.to, /*retryable=*/false);  // final
}
// [/activities]

int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  pd::Registry registry;
  registry.add(book_flight, [](Trip trip) { return Booking{"F-" + trip.to, 19'900}; });
  registry.add(cancel_flight, [](Booking b) { std::cout << "canceled: " << b.id << '\n'; });
  registry.add(charge, [](int cents) { return Booking{"C-1", cents}; });
  registry.add(refund, [](Booking b) { std::cout << "refunded: " << b.cents << " cents\n"; });
  registry.add(book_hotel, do_book_hotel);
  registry.add(travel, run_travel);
  pd::Runtime runtime(store, registry);
  pd::Client client(store);

  // [outcome]
  const auto run = client.start(travel, "trip-1", {"Oslo", "Rome"});
  const pd::Outcome<std::string> end = run.outcome(30s);  // run.wait(30s) would throw RunFailed
  std::cout << (end ? end.value() : "failed: " + end.failure().message) << '\n';
  // [/outcome]
}

// Prints:
//   hotel in Rome: attempt 1
//   hotel in Rome: attempt 2
//   refunded: 19900 cents
//   canceled: F-Rome
//   failed: no room in Rome
