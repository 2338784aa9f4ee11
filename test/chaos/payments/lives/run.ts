/**
 * `npm run chaos -- --payments --lives 500 --seed N`: plays this many lives of payments, each from the seed and its number, a few dozen
 * in parallel. A life that disagrees with Stripe's books is played alone, made shorter, and reported.
 */
import { Findings } from "../../kit/findings.ts";
import type { Hooks, RunResult } from "../../kit/subject.ts";
import { unmet } from "./fates.ts";
import type { Fault } from "./judge.ts";
import { lifeOf, wordsOf, type Life } from "./life.ts";
import { openPlace, type Place } from "./place.ts";
import { play } from "./play.ts";
import { shrink } from "./shrink.ts";
import { worldOf, type World } from "./world.ts";

export interface LivesSettings {
  readonly seed: number;
  readonly lives: number;
  /** The number of the first one. */
  readonly from: number;
  /** Whether each fault must have met each kind of event. */
  readonly mustMeetAll: boolean;
}

/** Played in parallel. Lives within the same multiple of it share a world (worldOf). */
export const batchSize = 50;
/** Enough lives for all faults to meet all kinds of events. */
const enoughLives = 200;
/** More failing lives than this are only named. */
const maxShrunk = 3;

export function livesSettings(flags: { seed: number; lives: number; from: number }): LivesSettings {
  return { ...flags, mustMeetAll: flags.lives >= enoughLives };
}

export async function runLives(settings: LivesSettings, hooks: Hooks, given?: Place): Promise<RunResult> {
  const startedAtMs = performance.now();
  await using undo = new AsyncDisposableStack();
  const place = given ?? (await openPlace());
  if (given === undefined) undo.defer(() => place.close());
  const findings = new Findings();
  const met = new Map<string, number>();
  const counts = new Map<string, number>();
  const failing: { life: Life; faults: Fault[] }[] = [];
  for (const lives of batchesOf(settings)) {
    hooks.signal.throwIfAborted();
    const played = await play(place, lives, { world: worldFor(settings, lives[0]) });
    addAll(met, played.met);
    addAll(counts, played.counts);
    for (const [number, faults] of Map.groupBy(played.faults, ({ life }) => life)) {
      const life = lives.find((each) => each.number === number);
      for (const { rule, what } of faults) findings.add(rule, `${nameOf(settings, life, lives)}: ${what}`);
      if (life !== undefined) failing.push({ life, faults });
    }
    const done = (lives.at(-1)?.number ?? 0) - settings.from + 1;
    const seconds = (performance.now() - startedAtMs) / 1_000;
    hooks.onProgress?.(
      `${done} of ${settings.lives} lives, ${(done / seconds).toFixed(1)} a second, ${failing.length} of them fail`,
    );
  }
  for (const { life, faults } of failing.slice(0, maxShrunk)) await tell(place, settings, life, faults, hooks);
  if (settings.mustMeetAll) for (const each of unmet(met)) findings.add("each fault meets each kind of event", each);
  return {
    ok: !findings.any,
    seed: settings.seed,
    seconds: (performance.now() - startedAtMs) / 1_000,
    sections: { "events and what they met": sorted(met), "what happened": sorted(counts) },
    findings: findings.list,
  };
}

function* batchesOf({ seed, lives, from }: LivesSettings): Iterable<Life[]> {
  for (let first = from; first < from + lives;) {
    const next = Math.min(from + lives, (Math.floor(first / batchSize) + 1) * batchSize);
    yield Array.from({ length: next - first }, (_, at) => lifeOf(seed, first + at));
    first = next;
  }
}

function worldFor({ seed }: LivesSettings, life: Life | undefined): World {
  return worldOf(seed, Math.floor((life?.number ?? 0) / batchSize));
}

function nameOf({ seed }: LivesSettings, life: Life | undefined, lives: readonly Life[]): string {
  return life === undefined
    ? `lives ${lives[0]?.number ?? 0} and on of seed ${seed}`
    : `life ${life.number} of seed ${seed}`;
}

async function tell(
  place: Place,
  settings: LivesSettings,
  life: Life,
  faults: readonly Fault[],
  hooks: Hooks,
): Promise<void> {
  const say = hooks.onProgress ?? ((): void => undefined);
  say(
    `life ${life.number} of seed ${settings.seed} fails: ${faults.map(({ rule, what }) => `${rule} (${what})`).join("; ")}`,
  );
  const shrunk = await shrink(place, life, new Set(faults.map(({ rule }) => rule)), {
    world: worldFor(settings, life),
  });
  const isAlone = shrunk !== undefined;
  const first = isAlone ? life.number : Math.floor(life.number / batchSize) * batchSize;
  say(
    `  again: npm run chaos -- --payments --lives ${isAlone ? 1 : batchSize} --from ${first} --seed ${settings.seed}`,
  );
  if (!isAlone) say("  It passes when it is played alone.");
  else for (const step of shrunk.life.steps) say(`  ${wordsOf(step)}`);
}

function addAll(into: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [name, count] of more) into.set(name, (into.get(name) ?? 0) + count);
}

function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries(
    [...counts].filter(([name]) => !name.startsWith("nothing to do")).toSorted(([a], [b]) => a.localeCompare(b)),
  );
}
