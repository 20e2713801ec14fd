#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <perdure/cli.h>
#include <perdure/client.h>
#include <perdure/perdure.h>
#include <perdure/runtime.h>

/// A program with runs in every state, for the tests of the command line:
///
///     perdure_test_runs fill STORE    makes a store with runs that ended, wait and cannot go on
///     perdure_test_runs work STORE    a worker, until its standard input ends
///     perdure_test_runs many STORE N  starts N runs that nobody works on
///     perdure_test_runs talk STORE ID starts a run that can be told and asked things
///     perdure_test_runs list ..       and all else: the command line of this program
namespace perdure::test {
namespace {

using namespace std::chrono_literals;

constexpr Orchestration<std::string(std::string)> greet{"greet"};
constexpr Orchestration<int(int)> pay{"pay"};             ///< fails below zero
constexpr Orchestration<int()> family{"family"};          ///< two children; the second one waits
constexpr Orchestration<Json(int)> approval{"approval"};  ///< waits for an answer, and gives it
constexpr Orchestration<int(int)> counter{"counter"};     ///< three executions
constexpr Orchestration<int()> nobody{"nobody"};          ///< no worker has it
constexpr Orchestration<int()> unsteady{"unsteady"};      ///< its code is changed under it
constexpr Orchestration<int()> talk{"talk"};              ///< has handlers; ends when it is told to
constexpr Activity<int(int)> charge{"charge"};
constexpr Event<Json> answer{"answer"};
constexpr Signal<Json> note{"note"};
constexpr Signal<void> finish{"finish"};
constexpr Update<int(std::string)> append{"append"};  ///< gives how many words there are
constexpr Update<void()> forget{"forget"};
constexpr Update<int(int)> buy{"buy"};      ///< fails below zero
constexpr Update<Json()> listen{"listen"};  ///< done when an answer comes
constexpr Query<Json()> words{"words"};
constexpr Query<Json(int)> word{"word"};

Task<std::string> run_greet(OrchestrationContext& ctx, std::string name) {
  ctx.set_status(Json{{"greeting", name}});
  co_return "hello " + name;
}

Task<int> run_pay(OrchestrationContext& ctx, int cents) {
  co_return co_await ctx.call(charge, cents);
}

Task<Json> run_approval(OrchestrationContext& ctx, int cents) {
  ctx.set_status(Json{{"waits_for", "answer"}, {"cents", cents}});
  co_return co_await ctx.wait_for(answer);
}

Task<int> run_family(OrchestrationContext& ctx) {
  const int paid = co_await ctx.call(pay, 5, {.id = "family-1/pay"});
  co_await ctx.call(approval, paid, {.id = "family-1/approval"});
  co_return paid;
}

Task<int> run_counter(OrchestrationContext& ctx, int from) {
  if (ctx.execution() < 3) co_await ctx.continue_as_new(counter, from + 1);
  co_return from;
}

int take_money(int cents) {
  if (cents < 0) throw Failed("no_funds", "declined\nby the bank", false);
  return cents;
}

/// The state of a talk.
struct Said {
  std::vector<Json> all;
  bool over = false;
};

Task<int> run_talk(OrchestrationContext& ctx, Said& said) {
  co_await ctx.until([&] { return said.over; });
  co_return static_cast<int>(said.all.size());
}

int append_word(Said& said, std::string text) {
  said.all.push_back(std::move(text));
  return static_cast<int>(said.all.size());
}

Task<int> run_buy(OrchestrationContext& ctx, Said& said, int cents) {
  said.all.push_back(co_await ctx.call(charge, cents));
  co_return cents;
}

Task<Json> run_listen(OrchestrationContext& ctx, Said&) {
  co_return co_await ctx.wait_for(answer);
}

void add_talk(Registry& registry) {
  registry.add(talk, run_talk)
      .signal(note, [](Said& said, Json text) { said.all.push_back(std::move(text)); })
      .signal(finish, [](Said& said) { said.over = true; })
      .update(append,
              append_word,
              [](const Said&, const std::string& text) {
                if (text.empty()) throw Failed("no_word", "an empty text\nis no word", false);
              })
      .update(forget, [](Said& said) { said.all.clear(); })
      .update(buy, run_buy)
      .update(listen, run_listen)
      .query(words, [](const Said& said) { return Json(said.all); })
      .query(word,
             [](const Said& said, int at) { return said.all.at(static_cast<std::size_t>(at)); });
}

template <bool kChanged>
Task<int> run_unsteady(OrchestrationContext& ctx) {
  if constexpr (kChanged) co_await ctx.call(charge, 1);
  co_await ctx.wait_for(answer);
  co_return 1;
}

Registry code_without_unsteady() {
  Registry registry;
  registry.add(greet, run_greet, "1.0");
  registry.add(pay, run_pay);
  registry.add(family, run_family);
  registry.add(approval, run_approval);
  registry.add(counter, run_counter);
  registry.add(charge, take_money);
  add_talk(registry);
  return registry;
}

Registry code_before() {
  Registry registry = code_without_unsteady();
  registry.add(unsteady, run_unsteady<false>);
  return registry;
}

Registry code() {
  Registry registry = code_without_unsteady();
  registry.add(unsteady, run_unsteady<true>);
  return registry;
}

void wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("the runs hang");
    std::this_thread::sleep_for(10ms);
  }
}

void fill(const std::string& url) {
  const auto store = open(url);
  const Client client(store);
  {
    Runtime runtime(store, code_before());
    client.start(unsteady, "stuck-1");
    client.start(greet, "greet-1", "world").wait(60s);
    client.start(greet, "greet-long", std::string(100'000, 'x')).wait(60s);
    client.start(greet, "evil\x1b[31m\nid", "\x1b[2J").wait(60s);
    client.start(counter, "count-1", 1).wait(60s);
    if (client.start(pay, "pay-1", -1).outcome(60s).ok()) throw std::runtime_error("pay-1");
    client.start(approval, "wait-1", 100);
    client.start(approval, "wait-2", 200);
    client.start(approval, "stop-1", 300);
    client.start(approval, "end-1", 400);
    client.start(family, "family-1");
    client.cancel("stop-1", "customer changed their mind");
    client.terminate("end-1", "out of hand");
    client.wait("stop-1", 60s);
    for (const char* id : {"wait-1", "wait-2", "stuck-1"}) {
      wait_until([&] { return client.history(id).events.back().kind == "event_subscribed"; });
    }
    wait_until([&] { return client.tree("family-1").nodes.size() == 3; });
    wait_until([&] { return client.history("family-1/approval").events.size() > 1; });
  }
  Runtime changed(store, code());
  client.raise_event("stuck-1", answer, nullptr);
  wait_until([&] { return !client.status("stuck-1").blocked.empty(); });
}

void work(const std::string& url) {
  Runtime runtime(open(url), code());
  std::cout << "works" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}

void start_many(const std::string& url, int count) {
  const Client client(open(url));
  for (int i = 0; i < count; ++i) client.start(nobody, "many-" + std::to_string(i));
}

int run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "fill" && argc == 3) {
    fill(argv[2]);
  } else if (what == "work" && argc == 3) {
    work(argv[2]);
  } else if (what == "many" && argc == 4) {
    start_many(argv[2], std::stoi(argv[3]));
  } else if (what == "talk" && argc == 4) {
    Client(open(argv[2])).start(talk, argv[3]);
  } else {
    return cli_main(argc, argv, code());
  }
  return 0;
}

}  // namespace
}  // namespace perdure::test

int main(int argc, char** argv) {
  try {
    return perdure::test::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 100;
  }
}
