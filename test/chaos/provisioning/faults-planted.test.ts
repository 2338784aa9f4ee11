/** A test of the fault matrix: bugs are planted in the workflow script, and each must be found. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { shippedScript } from "../../../src/sandbox/github/job-processes.ts";
import { secondTier } from "../../helpers/clusters.ts";
import { Findings } from "../kit/findings.ts";
import { patched, requireFitting, type Patch } from "../kit/patch.ts";
import { fewOf, ofTier } from "../kit/tiers.ts";
import { lives, openMatrix, playHeartbeats, playLife, type Life, type MatrixStage } from "./fault-matrix.ts";
import { scriptBugs, type ScriptBug } from "./script-bugs.ts";

const bugs = await ofTier(scriptBugs, (await fewOf("provisioning")).bugs);
const named = new Map<string, Life>(lives.map((life) => [life.name, life]));

const patchOf = ({ find, replace }: ScriptBug): Patch => ({ file: "deploy/github/headroom.mjs", find, replace });

if (!secondTier)
  test("every planted bug still fits the script", async () => {
    await expect(requireFitting(scriptBugs.map(patchOf))).resolves.toBeUndefined();
  });

if (bugs.length > 0) {
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
  let matrix: MatrixStage;
  let folder: string;
  /** What the runs call, without its bug and with it. */
  let [original, script] = ["", ""];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "headroom-script-"));
    script = join(folder, "headroom.mjs");
    original = await readFile(shippedScript, "utf8");
    await writeFile(script, original);
    matrix = await openMatrix({ runScript: script });
  });
  afterAll(async () => {
    vi.resetConfig();
    await matrix[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  test.each(bugs)("the planted bug is caught: $name", async (bug) => {
    const findings = new Findings();
    await writeFile(script, patched(original, patchOf(bug)));
    const life = bug.life === undefined ? undefined : named.get(bug.life);
    if (life === undefined) await playHeartbeats(matrix, findings);
    else await playLife(matrix, life, findings, (fault) => bug.faults.includes(fault.name));
    expect(findings.list.map((each) => each.invariant)).toContain(bug.invariant);
  });
}
