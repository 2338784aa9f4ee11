/** Plays lives in parallel: through the moments of three months, until everything has come to rest; then they are judged. */
import { perform } from "./acts.ts";
import { chanceOf } from "./chances.ts";
import { judge, type Fault } from "./judge.ts";
import { moments, type Life } from "./life.ts";
import type { Place } from "./place.ts";
import { LifeStage } from "./stage.ts";
import type { World } from "./world.ts";

export interface Played {
  readonly faults: readonly Fault[];
  readonly met: ReadonlyMap<string, number>;
  readonly counts: ReadonlyMap<string, number>;
}

const hour = 3_600;
const day = 24 * hour;
/** The time by which everybody has acted, and by which all of it must be known and settled. */
const restSeconds = [hour, 8 * hour, day, 2 * day, 4 * day, 12 * day, 34 * day, 35 * day];

export interface PlayOptions {
  readonly world: World;
  /** Prepares the database before anything happens. */
  readonly plant?: string | undefined;
  /** The first moment that is skipped; then everything comes to rest. Default: none is skipped. */
  readonly until?: number | undefined;
}

export async function play(place: Place, lives: readonly Life[], options: PlayOptions): Promise<Played> {
  await using undo = new AsyncDisposableStack();
  const database = await place.open();
  const stage = await LifeStage.open(database, options.world, undo);
  if (options.plant !== undefined) await stage.rows(options.plant);
  await stage.admit(lives);
  const played = moments.slice(0, options.until);
  for (const [slot, seconds] of played.entries()) {
    await stage.passTo(seconds, slot);
    await stage.react();
    await playMoment(stage, slot);
    await stage.react();
    await stage.watch();
  }
  await rest(stage, played.at(-1) ?? 0);
  const faults = await judge(stage);
  return { faults, met: stage.fates.met, counts: stage.counts };
}

async function playMoment(stage: LifeStage, slot: number): Promise<void> {
  for (const scene of stage.scenes) {
    for (const step of scene.life.steps) {
      if (step.slot !== slot) continue;
      await stage.tick(1 + Math.floor(step.by * 40));
      await perform(stage, scene, step.act, step.by);
    }
  }
}

/** After the faults banks decide everything, and time passes until nothing can be in progress any more. */
async function rest(stage: LifeStage, beganSeconds: number): Promise<void> {
  const { stripe } = stage.sandbox;
  stage.sandbox.faults.clear();
  for (const [at, seconds] of restSeconds.entries()) {
    const slot = moments.length + at;
    await stage.passTo(beganSeconds + seconds, slot);
    if (at === 1) stage.fates.calm();
    for (const scene of stage.scenes) {
      const bank = chanceOf(scene.life.seed, "bank", at);
      for (const [act, chance] of [
        ["the debit arrives", 1],
        ["the bank settles a refund", 1],
        ["a dispute is won", at < 2 ? 0.4 : 0],
        ["a dispute is lost", at < 2 ? 0.4 : 0],
      ] as const) {
        if (bank.chance(chance)) await perform(stage, scene, act, bank.next());
      }
    }
    await stage.react();
  }
  await stripe.delivered();
}
