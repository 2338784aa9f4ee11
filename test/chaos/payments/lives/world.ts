/**
 * The faults around lives that are played in parallel: parts that are killed or pause, lists that lag, and the day on which the
 * account's live key replaces its test key.
 */
import { chanceOf } from "./chances.ts";
import { moments } from "./life.ts";

export type Kill = "a relay at a step" | "the server at an event" | "the sweep";
export type Rest = "the relay" | "the sweep" | "the server";

export interface World {
  /** The moment from which real money is taken; undefined if all money is test money, treated as real. */
  readonly goesLiveAt: number | undefined;
  readonly listLagSeconds: number;
  /** By the moment. */
  readonly kills: ReadonlyMap<number, Kill>;
  readonly rests: ReadonlyMap<number, Rest>;
}

/** One world in this many goes live. */
const liveEvery = 5;
const killsInOne = 3;
const restsInOne = 5;

/** The same for a seed and a number. */
export function worldOf(seed: number, number: number): World {
  const random = chanceOf(seed, "world", number);
  const goesLiveAt = number % liveEvery === liveEvery - 1 ? random.between(1, 3) : undefined;
  const moment = (): number => random.between(1, Math.floor(moments.length * 0.7));
  const kills = Array.from(
    { length: killsInOne },
    () =>
      [
        moment(),
        random.pick(["a relay at a step", "a relay at a step", "the server at an event", "the sweep"] as const),
      ] as const,
  );
  const rests = Array.from(
    { length: restsInOne },
    () => [moment(), random.pick(["the relay", "the sweep", "the server"] as const)] as const,
  );
  return {
    goesLiveAt,
    listLagSeconds: random.chance(0.4) ? random.between(1, 4) : 0,
    kills: new Map(kills),
    rests: new Map(rests),
  };
}

/** No faults except those of the lives themselves. */
export const quietWorld: World = { goesLiveAt: undefined, listLagSeconds: 0, kills: new Map(), rests: new Map() };
