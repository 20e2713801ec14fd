// A shopping cart: a run that is told and asked things while it waits.

#include <iostream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

// [contracts]
struct Item {
  std::string name;
  int count = 0;
  int cents = 0;  // each; the cart looks it up
};
PERDURE_JSON(Item, name, count, cents)

constexpr pd::Orchestration<std::string(std::string)> shopping{"shopping"};
constexpr pd::Update<int(Item)> add_item{"add_item"};  // gives the total
constexpr pd::Update<int(std::string)> remove_item{"remove_item"};
constexpr pd::Query<int()> total{"total"};
constexpr pd::Query<std::vector<Item>()> items{"items"};
constexpr pd::Signal<void> checkout{"checkout"};
constexpr pd::Signal<std::string> remind_me{"remind_me"};
// [/contracts]
constexpr pd::Activity<int(std::string)> price_of{"price_of"};
constexpr pd::Activity<void(std::string)> send_mail{"send_mail"};

// [state]
struct Cart {
  std::vector<Item> items;
  bool checked_out = false;

  int cents() const {
    int sum = 0;
    for (const Item& item : items) sum += item.count * item.cents;
    return sum;
  }
};
// [/state]

// [main]
pd::Task<std::string> run_shopping(pd::OrchestrationContext& ctx, std::string who, Cart& cart) {
  auto ready = ctx.until([&] { return cart.checked_out; });
  auto patience = ctx.timer(48h);
  if (co_await pd::when_any(ready, patience) == 1) co_return who + " went away";
  co_return who + " pays " + std::to_string(cart.cents());
}
// [/main]

// [plain]
int take_out(Cart& cart, std::string name) {
  if (std::erase_if(cart.items, [&](const Item& item) { return item.name == name; }) == 0) {
    throw pd::Failed("not_there", "there is no " + name + " in the cart");
  }
  return cart.cents();
}
// [/plain]

// [durable]
pd::Task<int> put_in(pd::OrchestrationContext& ctx, Cart& cart, Item item) {
  item.cents = co_await ctx.call(price_of, item.name);  // others are handled meanwhile
  cart.items.push_back(item);
  co_return cart.cents();
}
// [/durable]

// [long_handler]
pd::Task<void> remind(pd::OrchestrationContext& ctx, Cart& cart, std::string address) {
  auto done = ctx.until([&] { return cart.checked_out; });
  auto hour = ctx.timer(1h);
  if (co_await pd::when_any(done, hour) == 0) co_return;  // or the end waits for this timer
  co_await ctx.call(send_mail, address);
}
// [/long_handler]

pd::Registry code() {
  pd::Registry registry;
  registry.add(price_of, [](std::string name) { return name == "tea" ? 450 : 120; });
  registry.add(send_mail, [](std::string address) { std::cout << "mail to " << address << '\n'; });
  // [registry]
  registry.add(shopping, run_shopping)
      .update(add_item,
              put_in,
              [](const Cart& cart, const Item& item) {  // its validator
                if (cart.checked_out) throw pd::Failed("closed", "the cart is checked out");
                if (item.count < 1) throw pd::Failed("no_count", "how many " + item.name + "s?");
              })
      .update(remove_item, take_out)
      .query(total, [](const Cart& cart) { return cart.cents(); })
      .query(items, [](const Cart& cart) { return cart.items; })
      .signal(checkout, [](Cart& cart) { cart.checked_out = true; })
      .signal(remind_me, remind, {.cancel_with_run = true});
  // [/registry]
  return registry;
}

// [query]
void print_items(const pd::Client& client, const std::string& id) {
  for (const Item& item : client.query(id, items)) {
    std::cout << "  " << item.count << " x " << item.name << '\n';
  }
}
// [/query]

int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  pd::Runtime runtime(store, code());
  pd::Client client(store);

  // [update_with_start]
  const auto first = client.update_with_start(shopping, "ann", "Ann", add_item, {"tea", 2});
  std::cout << "the first click makes the cart: " << first.wait(30s) << '\n';
  // [/update_with_start]

  // [update]
  const Item milk{"milk", 3};
  std::cout << client.update("ann", add_item, milk, {.update_id = "click-2"}) << '\n';
  std::cout << client.update("ann", add_item, milk, {.update_id = "click-2"}) << " as before\n";
  // [/update]

  // [errors]
  try {
    client.update("ann", add_item, {"cake", 0});
  } catch (const pd::UpdateRejected& error) {  // by the validator: the cart knows nothing of it
    std::cout << "rejected: " << error.failure().message << '\n';
  }
  try {
    client.update("ann", remove_item, "cake");
  } catch (const pd::UpdateFailed& error) {  // by the handler: it may have done something
    std::cout << "failed: " << error.failure().message << '\n';
  }
  // [/errors]

  // [handle]
  const auto removing = client.start_update("ann", remove_item, "milk");  // it is accepted
  std::cout << "without milk: " << removing.wait(30s) << '\n';
  // [/handle]
  std::cout << "the cart holds " << client.query("ann", total) << '\n';
  print_items(client, "ann");

  // [signal]
  client.signal("ann", checkout);  // stored; nobody waits for the handler
  std::cout << client.find<std::string>("ann").wait(30s) << '\n';
  // [/signal]

  // [ended]
  print_items(client, "ann");  // of a run that has ended
  try {
    client.update("ann", remove_item, "tea");
  } catch (const pd::RunEnded&) {
    std::cout << "too late\n";
  }
  // [/ended]

  // [signal_with_start]
  const auto bob = client.signal_with_start(shopping, "bob", "Bob", remind_me, "bob@example.org");
  // [/signal_with_start]
  client.cancel("bob", "closing time");
  std::cout << "Bob: " << bob.outcome(30s).reason() << '\n';
}

// Prints:
//   the first click makes the cart: 900
//   1260
//   1260 as before
//   rejected: how many cakes?
//   failed: there is no cake in the cart
//   without milk: 900
//   the cart holds 900
//     2 x tea
//   Ann pays 900
//     2 x tea
//   too late
//   Bob: closing time
