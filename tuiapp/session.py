"""`Session`: what a user does to an engine, in terms of requests; no user interface in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from engine.backends.base import Backend
from engine.cost import CostModel
from engine.generate.demo import DemoMix
from engine.loading import Loading
from engine.prompts import PromptMaker
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName, EngineSettings
from engine.workload import Listed, Workload
from tuiapp.injector import Injector
from tuiapp.playing import Pastime, Playing
from tuiapp.presets import Preset

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
OPEN_BATCHES = 3  # of the gentle mix: one that runs, and what makes a queue


class Replay(Protocol):
    """What a recording can do and an engine cannot: go to another moment."""

    def now(self) -> float: ...

    def seek(self, time: float) -> None:
        """Go on from that moment, in seconds."""
        ...

    def seek_pass(self, index: int) -> None:
        """Go on from behind the forward pass of that index, counted from 0."""
        ...


class Session:
    """Remembers what was asked for: the settings, the speed, and what is to arrive.

    Args:
        settings: those that the engine was built with.
        base: what presets change, the same as `settings` if not given.
        seed: of the bursts.
        replay: the backend once more where it plays a recording, which can be looked at only.
        spec: what the engine was built from; None where no other can be built beside it.
        cost: how long its passes take, in place of what the device says.
        loading: how far the engine has come before it takes requests.

    Attributes:
        workload: the name of what plays; empty for nothing.
        playing: the preset that plays; None for anything else.
        recording: the file, where it plays one.
        played_at: position in the log from which on what plays has arrived.
        injector: sends requests of the user's own.
    """

    def __init__(
        self,
        backend: Backend,
        settings: EngineSettings,
        *,
        base: EngineSettings | None = None,
        seed: int = 0,
        replay: Replay | None = None,
        spec: ModelSpec | None = None,
        cost: CostModel | None = None,
        loading: Loading | None = None,
    ) -> None:
        self.backend = backend
        self.replay = replay
        self.settings = settings
        self.spec = spec
        self.cost = cost
        self.loading = loading or Loading()
        self._base = base or settings
        self.workload = ""
        self._mix: DemoMix | None = None
        self._is_mix_limited = False
        self.playing: Playing | None = None
        self.played_at = 0
        self.recording: Path | None = None
        self.speed = 1.0
        self.is_paused = False
        self._prompts: PromptMaker | None = None
        self.injector = Injector(backend, lambda: self.prompts, seed)
        self._num_injected = 0  # before what plays now
        self._num_played = 0

    @property
    def prompts(self) -> PromptMaker | None:
        """Makes prompts in the engine's tokens; None until the engine is ready."""
        if self._prompts is None and self.backend.tokenizer is not None:
            self._prompts = PromptMaker(self.backend.tokenizer)
        return self._prompts

    @property
    def base(self) -> EngineSettings:
        """What presets change: the settings that the session began with."""
        return self._base

    @property
    def has_injected(self) -> bool:
        """Whether the user has added requests to what plays."""
        return self.injector.num_injected > self._num_injected

    @property
    def is_over(self) -> bool:
        """Whether a preset plays that has come to its end."""
        return self.playing is not None and self.playing.has_ended(self.backend.log)

    def settle(self, settings: EngineSettings) -> None:
        """Take over what the engine made of the settings when it was built."""
        self.settings = settings
        if self._base.long_prefill_token_threshold is None:
            chunk = settings.long_prefill_token_threshold
            self._base = replace(self._base, long_prefill_token_threshold=chunk)

    def set_batcher(self, name: BatcherName) -> bool:
        """Switch the policy, live; return whether it was another one."""
        is_other = name is not self.settings.batcher
        if is_other:
            self.configure(replace(self.settings, batcher=name))
        return is_other

    def configure(self, settings: EngineSettings) -> None:
        """Change any knob, live; a chunk left to the model stays what it was fitted to."""
        if settings.long_prefill_token_threshold is None:
            chunk = self._base.long_prefill_token_threshold
            settings = replace(settings, long_prefill_token_threshold=chunk)
        self.settings = settings
        self._limit_mix()
        self.backend.configure(settings)

    def play(self, name: str, workload: Workload, *, in_steps: bool = False) -> None:
        """Let a workload arrive from now on.

        Args:
            in_steps: its times follow how long a decoding pass takes here.
        """
        self.workload, self.playing = name, None
        self._mix = workload if isinstance(workload, DemoMix) else None
        self._is_mix_limited = self._mix is not None and self._mix.most_open is not None
        self._limit_mix()
        self.played_at, self._num_injected = len(self.backend.log), self.injector.num_injected
        self.backend.play(workload, self.speed, in_steps=in_steps)

    def play_preset(self, preset: Preset, variant: str | None = None) -> None:
        """Play a preset from its beginning, under its settings, in place of all that runs.

        Args:
            variant: one of the engines that it compares; None for its own.

        Raises:
            ConfigError: its settings do not go with those of the session.
        """
        settings = self.settings_for(preset, variant)
        position = len(self.backend.log)
        self._start_afresh(settings)
        self.play_requests_of(preset, position)

    def settings_for(self, preset: Preset, variant: str | None = None) -> EngineSettings:
        """What a preset would be played under: those that the session began with, changed by it.

        Raises:
            ConfigError: they do not go together.
        """
        return preset.settings(variant, base=self._base)

    def play_requests_of(self, preset: Preset, position: int = 0) -> None:
        """Let the requests of a preset arrive, under whatever settings are in force.

        Args:
            position: in the log, where the run begins.
        """
        if self.prompts is None:
            return
        self._num_played += 1
        suffix = "" if self._num_played == 1 else f".{self._num_played}"
        workload = preset.workload(preset.requests(self.prompts), suffix=suffix)
        self.play(preset.name, workload, in_steps=preset.about.is_paced_in_steps)
        self.playing = Playing(preset, position, self.speed)

    def change_speed(self, steps: int) -> float:
        """Let the workload arrive so many notches faster or slower; return the new speed."""
        index = SPEEDS.index(self.speed) + steps
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, index))]
        self.backend.set_speed(self.speed)
        self._limit_mix()
        if self.playing and self.speed != 1.0:  # it is not the preset's own run any more
            self.playing = replace(self.playing, speed=self.speed)
        return self.speed

    def pastime(self) -> Pastime:
        """What goes on now."""
        return Pastime(
            self.settings,
            self.speed,
            self.is_paused,
            self.workload,
            self.playing,
            self.is_over,
            self._mix,
        )

    def resume(self, before: Pastime) -> None:
        """Go back to what went on before, in place of all that runs."""
        position = len(self.backend.log)
        self._start_afresh(before.settings)
        self.change_speed(SPEEDS.index(before.speed) - SPEEDS.index(self.speed))
        if before.mix:
            self.play(before.name, before.mix.again())
        elif before.is_over:
            self.workload, self.playing = before.name, before.playing
        elif before.playing:
            self.play_requests_of(before.playing.preset, position)
        if self.is_paused != before.is_paused:
            self.toggle_pause()

    def _start_afresh(self, settings: EngineSettings) -> None:
        """End all that runs, and let a run begin where the log says the settings are set.

        They are told once: told again, a report would find them changed while it ran. What plays
        is taken away first, lest its end be taken for that of what comes.
        """
        self.play("", Listed([]))
        self.backend.abort_all()
        before = self.settings
        self.configure(settings)
        if self.settings == before:
            self.backend.clear_cache()

    def toggle_pause(self) -> None:
        self.is_paused = not self.is_paused
        if self.is_paused:
            self.backend.pause()
        else:
            self.backend.resume()

    @property
    def title(self) -> str:
        """The name of what plays, and whether it holds back."""
        return f"{self.workload} held" if self.held_at else self.workload

    @property
    def held_at(self) -> int | None:
        """Requests that the gentle mix keeps open, where this machine answers no more of them."""
        return self._mix.most_open if self._mix and self._mix.is_held else None

    def _limit_mix(self) -> None:
        """Let the mix ask no more than can be watched, unless the user makes it faster."""
        if self._mix and self._is_mix_limited:
            most = OPEN_BATCHES * self.settings.num_slots
            self._mix.most_open = most if self.speed <= 1 else None
