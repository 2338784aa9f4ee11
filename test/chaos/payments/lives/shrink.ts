/** Shortens a failing life: removes steps as long as it still fails in the same way. */
import type { Fault } from "./judge.ts";
import type { Life } from "./life.ts";
import { play, type PlayOptions } from "./play.ts";
import type { Place } from "./place.ts";

export interface Shrunk {
  readonly life: Life;
  readonly faults: readonly Fault[];
}

const maxPlays = 40;

/** Undefined if the life passes when it is played alone, so that other lives are involved. */
export async function shrink(
  place: Place,
  life: Life,
  rules: ReadonlySet<string>,
  options: PlayOptions,
): Promise<Shrunk | undefined> {
  const fails = async (candidate: Life): Promise<readonly Fault[] | undefined> => {
    const { faults } = await play(place, [candidate], options);
    return faults.some(({ rule }) => rules.has(rule)) ? faults : undefined;
  };
  let faults = await fails(life);
  if (faults === undefined) return undefined;
  let shortest = life;
  // Larger parts first, then single steps.
  let size = Math.ceil(life.steps.length / 2);
  let at = 0;
  for (let plays = 1; plays < maxPlays && size >= 1; plays += 1) {
    if (at >= shortest.steps.length) {
      size = size === 1 ? 0 : Math.floor(size / 2);
      at = 0;
      continue;
    }
    const shorter = { ...shortest, steps: shortest.steps.toSpliced(at, size) };
    const still = await fails(shorter);
    if (still === undefined) at += size;
    else [shortest, faults] = [shorter, still];
  }
  return { life: shortest, faults };
}
