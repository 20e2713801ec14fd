#include "cli/demo/orders.h"

#include <chrono>
#include <string_view>
#include <utility>

#include <perdure/activity_context.h>
#include <perdure/errors.h>
#include <perdure/orchestration_context.h>
#include <perdure/task.h>

namespace perdure::demo {

namespace {

using namespace std::chrono_literals;

constexpr auto kPart = 100ms;
constexpr int kQuickStep = 6;
constexpr int kPacking = 40;
constexpr int kCentsOfOne = 100;

Task<std::string> run_fulfil(OrchestrationContext& ctx, Order order) {
  const Receipt receipt = co_await ctx.call(charge, order).undo_with(refund);
  co_await ctx.call(pack, order);
  const std::string label = co_await ctx.call(ship, order);
  co_return receipt.id + ", " + label;
}

/// The attempt of one step, as the one who watches hears of it.
class Attempt {
 public:
  Attempt(const Tell& tell, ActivityContext& ctx) : tell_(tell), ctx_(ctx) {
    told(Report::Kind::kBegan);
  }

  void work(int parts) {
    total_ = parts;
    try {
      while (done_ < parts) {
        ctx_.sleep_for(kPart);
        ++done_;
        told(Report::Kind::kProgress);
      }
    } catch (const Canceled& canceled) {
      told(Report::Kind::kStopped, canceled.reason());
      throw;
    }
  }

  void done(const std::string& text) { told(Report::Kind::kDone, text); }

 private:
  void told(Report::Kind kind, const std::string& text = {}) {
    tell_({kind, ctx_.instance_id(), ctx_.name(), done_, total_, text});
  }

  const Tell& tell_;
  ActivityContext& ctx_;
  int done_ = 0;
  int total_ = 0;
};

}  // namespace

std::string run_of(const Order& order) {
  return "order-" + order.number;
}

std::string money(int cents) {
  const std::string rest = std::to_string(cents % kCentsOfOne);
  return std::to_string(cents / kCentsOfOne) + "." + (rest.size() == 1 ? "0" : "") + rest;
}

Registry orders(const Tell& tell) {
  Registry registry;
  registry.add(fulfil, run_fulfil);
  registry.add(charge, [tell](ActivityContext& ctx, const Order& order) {
    Attempt attempt(tell, ctx);
    attempt.work(kQuickStep);
    Receipt receipt{"r-" + order.number, order.cents};
    attempt.done(money(receipt.cents) + " charged, receipt " + receipt.id);
    return receipt;
  });
  registry.add(refund, [tell](ActivityContext& ctx, const Receipt& receipt) {
    Attempt attempt(tell, ctx);
    attempt.work(kQuickStep);
    attempt.done(money(receipt.cents) + " given back for receipt " + receipt.id);
  });
  registry.add(pack, [tell](ActivityContext& ctx, const Order&) {
    Attempt attempt(tell, ctx);
    attempt.work(kPacking);
    attempt.done("everything is in its box");
  });
  registry.add(ship, [tell](ActivityContext& ctx, const Order& order) {
    Attempt attempt(tell, ctx);
    attempt.work(kQuickStep);
    std::string label = "parcel-" + order.number;
    attempt.done("handed over as " + label);
    return label;
  });
  return registry;
}

}  // namespace perdure::demo
