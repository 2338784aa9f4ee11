/**
 * Planted bugs that are seen in one scene each: played with the bug, which the ordinary oracle must find, and as the code is, which must
 * pass.
 *
 * Owns: the order, the patched copy of the code, and the verdict. Does not own: the stage, the scenes, or what the oracle looks at.
 */
import { CrashablePostgres } from "../crashable-postgres.ts";
import { Findings } from "../findings.ts";
import { copyWithPatches, requireFitting, type Patch } from "./patch.ts";
import type { PlantedOptions, PlantedOutcome, PlantedResult } from "./run-planted.ts";

export interface SceneBug<Scene extends string> {
  readonly name: string;
  readonly scene: Scene;
  readonly patches: readonly Patch[];
  /** A second line of defence that has to be taken down as well. */
  readonly afterMigration?: string;
}

/** What a stage is opened with. */
export interface SceneCode {
  readonly codeDir: string;
  readonly postgres: CrashablePostgres;
  readonly afterMigration?: string;
}

/** Plays a scene on a stage of this code, and has the oracle look at it. */
export type PlayScene<Scene extends string> = (scene: Scene, code: SceneCode, findings: Findings) => Promise<void>;

export async function runSceneBugs<Scene extends string>(
  plantedBugs: readonly SceneBug<Scene>[],
  { only = "", signal, onProgress }: Omit<PlantedOptions, "seed">,
  playScene: PlayScene<Scene>,
): Promise<PlantedResult> {
  const bugs = plantedBugs.filter(({ name }) => name.includes(only));
  if (bugs.length === 0) throw new Error(`no planted bug is named like "${only}"`);
  await requireFitting(bugs.flatMap(({ patches }) => patches));
  const postgres = await CrashablePostgres.start();
  const outcomes: PlantedOutcome[] = [];
  try {
    for (const bug of bugs) {
      for (const planted of [undefined, bug]) {
        signal.throwIfAborted();
        const outcome = await play(bug.scene, planted, postgres, playScene);
        outcomes.push(outcome);
        onProgress(`${outcome.scenario}: ${outcome.bug ?? "the code as it is"}: ${verdictOf(outcome)}`);
      }
    }
  } finally {
    await postgres.close();
  }
  return { ok: outcomes.every(({ ok }) => ok), seed: 0, outcomes };
}

/** Of a bug that was found, also whether `headroom verify` alone would have seen it. */
function verdictOf({ bug, ok, findings }: PlantedOutcome): string {
  if (!ok) return "NOT SO";
  const isSeenByVerify = findings.some(({ invariant }) => invariant.startsWith("verify: "));
  return bug === null || isSeenByVerify ? "as it should be" : "as it should be (not by verify)";
}

async function play<Scene extends string>(
  scene: Scene,
  planted: SceneBug<Scene> | undefined,
  postgres: CrashablePostgres,
  playScene: PlayScene<Scene>,
): Promise<PlantedOutcome> {
  const startedAtMs = performance.now();
  await using copy = await copyWithPatches(planted?.patches ?? []);
  const { afterMigration } = planted ?? {};
  const findings = new Findings();
  const code = { codeDir: copy.dir, postgres, ...(afterMigration === undefined ? {} : { afterMigration }) };
  await playScene(scene, code, findings);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const ok = findings.any === (planted !== undefined);
  return { bug: planted?.name ?? null, scenario: scene, ok, findings: findings.list, seconds };
}
