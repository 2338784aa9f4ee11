/** A test of the fault matrix: bugs are planted in the workflow script, and each must be found. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { shippedScript } from "../../../src/sandbox/github/job-processes.ts";
import { Findings } from "../kit/findings.ts";
import { patched } from "../kit/patch.ts";
import { bugsOfTier } from "../kit/planted-tests.ts";
import { lives, openMatrix, playHeartbeats, playLife, type Life, type MatrixStage } from "./fault-matrix.ts";
import { scriptBugs } from "./script-bugs.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const bugs = await bugsOfTier(scriptBugs);
const named = new Map<string, Life>(lives.map((life) => [life.name, life]));

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

test.each(bugs)("the planted bug is caught: $name", async ({ find, replace, life: name, faults, invariant }) => {
  const findings = new Findings();
  await writeFile(script, patched(original, { file: "deploy/github/headroom.mjs", find, replace }));
  const life = name === undefined ? undefined : named.get(name);
  if (life === undefined) await playHeartbeats(matrix, findings);
  else await playLife(matrix, life, findings, (fault) => faults.includes(fault.name));
  expect(findings.list.map((each) => each.invariant)).toContain(invariant);
});
