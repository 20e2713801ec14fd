#include "replay/event_inbox.h"

#include <gtest/gtest.h>

#include <perdure/detail/turn_api.h>

namespace perdure::replay {
namespace {

using detail::Op;
using detail::OpKind;
using detail::OpRef;
using detail::TurnApi;

class Inbox : public testing::Test {
 protected:
  OpRef wait(std::int64_t id, std::string name = "n") {
    return OpRef(new Op(engine(), OpKind::kEvent, id, std::move(name), {}));
  }
  static std::string joined(const std::vector<EventInbox::Match>& matches) {
    std::string text;
    for (const auto& match : matches) {
      text += std::to_string(match.wait->event) + "<" + match.payload + " ";
    }
    return text;
  }
  std::string unread() const {
    std::string text;
    for (const HistoryEvent& event : inbox_.unread()) text += event.name + event.payload + " ";
    return text;
  }

  EventInbox inbox_;

 private:
  /// The inbox keeps operations and never asks their engine, so an address is enough.
  TurnApi& engine() { return reinterpret_cast<TurnApi&>(place_); }
  alignas(TurnApi) std::byte place_[sizeof(TurnApi)] = {};
};

TEST_F(Inbox, FirstComeFirstServed) {
  EXPECT_EQ(joined(inbox_.deliver("n", "a")), "");
  EXPECT_EQ(joined(inbox_.deliver("n", "b")), "");
  EXPECT_EQ(joined(inbox_.subscribe(wait(2))), "2<a ");
  EXPECT_EQ(joined(inbox_.subscribe(wait(3))), "3<b ");
  EXPECT_EQ(joined(inbox_.subscribe(wait(4))), "");
  EXPECT_EQ(joined(inbox_.subscribe(wait(5))), "");
  EXPECT_EQ(joined(inbox_.deliver("n", "c")), "4<c ");
}

TEST_F(Inbox, NamesHaveLinesOfTheirOwn) {
  inbox_.subscribe(wait(2, "x"));
  EXPECT_EQ(joined(inbox_.deliver("y", "1")), "");
  EXPECT_EQ(joined(inbox_.deliver("x", "2")), "2<2 ");
  EXPECT_EQ(unread(), "y1 x2 ") << "until the code has seen it";
}

TEST_F(Inbox, AWaitThatEndedGetsNothing) {
  const OpRef gone = wait(2);
  inbox_.subscribe(gone);
  inbox_.subscribe(wait(3));
  inbox_.unsubscribe(*gone);
  inbox_.unsubscribe(*wait(9, "unknown"));
  EXPECT_EQ(joined(inbox_.deliver("n", "a")), "3<a ");
}

TEST_F(Inbox, WhatIsPutBackComesBeforeLaterEvents) {
  const OpRef first = wait(2);
  inbox_.subscribe(first);
  inbox_.deliver("n", "a");
  inbox_.deliver("n", "b");
  EXPECT_EQ(joined(inbox_.put_back(*first)), "");
  EXPECT_EQ(joined(inbox_.put_back(*first)), "") << "once";
  EXPECT_EQ(unread(), "na nb ");
  EXPECT_EQ(joined(inbox_.subscribe(wait(5))), "5<a ");
}

TEST_F(Inbox, WhatIsPutBackGoesToAWaitThatIsThere) {
  const OpRef first = wait(2);
  inbox_.subscribe(first);
  inbox_.deliver("n", "a");
  inbox_.subscribe(wait(4));
  EXPECT_EQ(joined(inbox_.put_back(*first)), "4<a ");
}

TEST_F(Inbox, UnreadIsInOrderOfArrivalOverAllNames) {
  inbox_.deliver("z", "1");
  const OpRef seen = wait(2, "n");
  inbox_.deliver("n", "2");
  inbox_.deliver("a", "3");
  inbox_.deliver("n", "4");
  inbox_.subscribe(seen);
  EXPECT_EQ(unread(), "z1 n2 a3 n4 ");
  seen->consumed = true;
  EXPECT_EQ(unread(), "z1 a3 n4 ");
}

TEST_F(Inbox, ManySeenEventsAreForgottenAndUnseenOnesKept) {
  const OpRef unseen = wait(2);
  inbox_.subscribe(unseen);
  inbox_.deliver("n", "first");
  for (int i = 3; i < 1000; ++i) {
    const OpRef op = wait(i);
    inbox_.subscribe(op);
    inbox_.deliver("n", "x");
    op->consumed = true;
  }
  EXPECT_EQ(unread(), "nfirst ");
  EXPECT_EQ(joined(inbox_.put_back(*unseen)), "");
  EXPECT_EQ(joined(inbox_.subscribe(wait(1000))), "1000<first ");
}

}  // namespace
}  // namespace perdure::replay
