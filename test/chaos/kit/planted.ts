/**
 * Tests the oracles themselves: the ordinary oracle must find each planted bug, and the unchanged code must pass the same scenes.
 *
 * Owns: the order, the tries, and the verdict. Does not own: the bugs, the scenes, or what an oracle checks.
 */
import { CrashablePostgres } from "./crashable-postgres.ts";
import type { Finding } from "./findings.ts";
import { copyWithPatches, ownCodeDir, requireFitting, type Patch } from "./patch.ts";
import type { Hooks } from "./subject.ts";

export interface PlantedBug<Scene extends string = string> {
  readonly name: string;
  /** The scene that reveals it. */
  readonly scene: Scene;
  /** The invariant that it breaks. Default: any. */
  readonly caughtAs?: string;
}

export interface CodeBug<Scene extends string = string> extends PlantedBug<Scene> {
  readonly patches: readonly Patch[];
  /** A second line of defence that has to be removed as well. */
  readonly afterMigration?: string;
}

/** Plays a scene, and returns the oracle's findings. */
export type PlayBug<Bug extends PlantedBug> = (
  scene: Bug["scene"],
  bug: Bug | undefined,
  options: { readonly seed: number; readonly signal: AbortSignal },
) => Promise<readonly Finding[]>;

export interface PlantedSuite<Bug extends PlantedBug = PlantedBug> {
  readonly bugs: readonly Bug[];
  /** Throws if a bug no longer fits the code. `undo` removes what the plays share. */
  begin(undo: AsyncDisposableStack): Promise<PlayBug<Bug>>;
}

/** The options of a stage. */
export interface SceneCode {
  readonly codeDir: string;
  readonly postgres: CrashablePostgres;
  readonly afterMigration?: string;
}

/** Bugs that are planted into a copy of the code. */
export function plantedInCode<Bug extends CodeBug>(
  bugs: readonly Bug[],
  play: (code: SceneCode, ...rest: Parameters<PlayBug<Bug>>) => Promise<readonly Finding[]>,
): PlantedSuite<Bug> {
  return {
    bugs,
    async begin(undo) {
      await requireFitting(bugs.flatMap(({ patches }) => patches));
      const postgres = await CrashablePostgres.start();
      undo.defer(() => postgres.close());
      return async (scene, bug, options) => {
        if (bug === undefined) return await play({ codeDir: ownCodeDir, postgres }, scene, bug, options);
        await using copy = await copyWithPatches(bug.patches);
        const { afterMigration } = bug;
        const code = { codeDir: copy.dir, postgres, ...(afterMigration === undefined ? {} : { afterMigration }) };
        return await play(code, scene, bug, options);
      };
    },
  };
}

export interface PlantedOutcome {
  /** Null for the unchanged code. */
  readonly bug: string | null;
  readonly scene: string;
  /** Caught, or clean for the unchanged code. */
  readonly ok: boolean;
  readonly tries: number;
  readonly findings: readonly Finding[];
  readonly seconds: number;
}

export interface PlantedResult {
  readonly ok: boolean;
  readonly seed: number;
  readonly outcomes: readonly PlantedOutcome[];
}

export interface PlantedOptions extends Hooks {
  readonly seed: number;
  /** Only bugs whose name contains this. */
  readonly only?: string | undefined;
}

/** A bug that needs bad luck to show gets another seed before it counts as missed. */
const maxTries = 3;

export async function runPlanted<Bug extends PlantedBug>(
  suite: PlantedSuite<Bug>,
  { seed, only = "", signal, onProgress }: PlantedOptions,
): Promise<PlantedResult> {
  const bugs = suite.bugs.filter(({ name }) => name.includes(only));
  if (bugs.length === 0) throw new Error(`no planted bug is named like "${only}"`);
  await using undo = new AsyncDisposableStack();
  const play = await suite.begin(undo);
  const outcomes: PlantedOutcome[] = [];
  for (const [scene, planted] of Map.groupBy(bugs, (bug) => bug.scene)) {
    for (const bug of [undefined, ...planted]) {
      const startedAtMs = performance.now();
      for (let tries = 1; ; tries += 1) {
        signal.throwIfAborted();
        const findings = await play(scene, bug, { seed: seed + tries - 1, signal });
        const ok = bug === undefined ? findings.length === 0 : isCaught(bug, findings);
        if (bug !== undefined && !ok && tries < maxTries) continue;
        const seconds = (performance.now() - startedAtMs) / 1_000;
        const outcome = { bug: bug?.name ?? null, scene, ok, tries, findings, seconds };
        outcomes.push(outcome);
        onProgress?.(`${scene}: ${bug?.name ?? "the code as it is"}: ${verdictOf(outcome)}`);
        break;
      }
    }
  }
  return { ok: outcomes.every(({ ok }) => ok), seed, outcomes };
}

function isCaught({ caughtAs }: PlantedBug, findings: readonly Finding[]): boolean {
  return findings.some(({ invariant }) => caughtAs === undefined || invariant === caughtAs);
}

export function verdictOf({ bug, ok, tries }: PlantedOutcome): string {
  const verdict = bug === null ? "clean" : tries === 1 ? "caught" : `caught at try ${tries}`;
  return ok ? verdict : bug === null ? "NOT CLEAN" : "NOT CAUGHT";
}
