"""`Script`: a workload in which clients wait for answers, go away, and knobs are turned."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from math import inf

from engine.actions import Abort, Action
from engine.request import Answer, Request


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, and when and how its client asks it.

    Attributes:
        request: it arrives at its `arrival`; one that follows, not before then.
        follows: id of the request whose answer comes first; empty for none.
        delay: seconds from that answer to this request.
        cancel_after_s: the client goes away so many seconds after it asked.
        has_history: its prompt begins with the prompt before it and the answer to that one.
    """

    request: Request
    follows: str = ""
    delay: float = 0.0
    cancel_after_s: float | None = None
    has_history: bool = False


class Script:
    """It is a `Workload`. Times are in seconds since it began.

    Args:
        asks: in any order; whom one follows must be among them.
        actions: in any order; those later than the last request may find nothing to act on.
        until: nobody asks after that moment.
    """

    def __init__(
        self, asks: Iterable[Ask], actions: Iterable[Action] = (), until: float = inf
    ) -> None:
        self._order = count()
        self._arrivals: list[tuple[float, int, Ask]] = []
        self._actions: list[tuple[float, int, Action]] = []
        self._followers: defaultdict[str, list[Ask]] = defaultdict(list)
        self._may_go: set[str] = set()  # clients with a time to go away at, and no answer yet
        self._asked: dict[str, tuple[int, ...]] = {}  # prompts that others will go on from
        self._until = until
        for ask in asks:
            if ask.follows:
                self._followers[ask.follows].append(ask)
            else:
                self._expect(ask, ask.request.arrival)
        for action in actions:
            self._plan(action)

    @property
    def is_over(self) -> bool:
        return not self._arrivals and not self._followers

    def next_arrival(self) -> float | None:
        return self._arrivals[0][0] if self._arrivals else None

    def next_time(self) -> float | None:
        self._forget()
        heads = [heap[0][0] for heap in (self._arrivals, self._actions) if heap]
        return min(heads, default=None)

    def take(self, until: float) -> list[Request | Action]:
        taken: list[Request | Action] = []
        while (moment := self.next_time()) is not None and moment <= until:
            if self._actions and self._actions[0][0] == moment:
                taken.append(heapq.heappop(self._actions)[2])
            else:
                taken.append(self._ask(heapq.heappop(self._arrivals)[2], moment))
        return taken

    def answered(self, answer: Answer, now: float) -> None:
        self._may_go.discard(answer.request_id)
        asked = self._asked.pop(answer.request_id, ())
        for ask in self._followers.pop(answer.request_id, ()):
            moment = max(ask.request.arrival, now + ask.delay)
            said = (*asked, *answer.token_ids) if ask.has_history else ()
            prompt = said + ask.request.prompt_token_ids
            request = replace(ask.request, prompt_token_ids=prompt)
            self._expect(replace(ask, request=request), moment)

    def _ask(self, ask: Ask, moment: float) -> Request:
        if ask.cancel_after_s is not None:
            self._may_go.add(ask.request.id)
            self._plan(Abort(moment + ask.cancel_after_s, ask.request.id))
        if any(follower.has_history for follower in self._followers.get(ask.request.id, ())):
            self._asked[ask.request.id] = ask.request.prompt_token_ids
        return replace(ask.request, arrival=moment)

    def _expect(self, ask: Ask, moment: float) -> None:
        if moment <= self._until:
            heapq.heappush(self._arrivals, (moment, next(self._order), ask))
            return
        for follower in self._followers.pop(ask.request.id, ()):
            self._expect(follower, inf)

    def _plan(self, action: Action) -> None:
        heapq.heappush(self._actions, (action.time, next(self._order), action))

    def _forget(self) -> None:
        """Drop the departures of clients who have their answer, so that nobody wakes for them."""
        while self._actions:
            action = self._actions[0][2]
            if not isinstance(action, Abort) or action.request_id in self._may_go:
                return
            heapq.heappop(self._actions)
