/**
 * Every call between workflow script, server and GitHub is answered once in every wrong way: no success becomes a failure, no failure a
 * success, no customer has two runs, no cleanup is forgotten, and nobody waits without being told. Then the script gets bugs, and each shows.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { shippedScript } from "../../../src/sandbox/github/job-processes.ts";
import { Findings } from "../kit/findings.ts";
import { patched } from "../kit/patch.ts";
import { renderFindings } from "../kit/report.ts";
import {
  lives,
  openMatrix,
  playHeartbeats,
  playLife,
  restAndJudge,
  type Life,
  type MatrixStage,
} from "./fault-matrix.ts";
import { scriptBugs } from "./script-bugs.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let matrix: MatrixStage;
let folder: string;
let original: string;
/** What the runs call; written anew for a planted bug. */
const script = (): string => join(folder, "headroom.mjs");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "headroom-script-"));
  original = await readFile(shippedScript, "utf8");
  await writeFile(script(), original);
  matrix = await openMatrix({ runScript: script() });
});
afterAll(async () => {
  vi.resetConfig();
  await matrix[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const named: readonly (readonly [string, Life])[] = lives.map((life) => [life.name, life]);

test.each(named)("%s, each of its calls spoiled once", async (_name, life) => {
  const findings = new Findings();
  await playLife(matrix, life, findings);
  expect(renderFindings(findings.list)).toBe("All invariants hold.");
});

test("a run goes on while its heartbeats are spoiled in every way", async () => {
  const findings = new Findings();
  await playHeartbeats(matrix, findings);
  expect(renderFindings(findings.list)).toBe("All invariants hold.");
});

test("afterwards what holds for all jobs holds", async () => {
  const findings = new Findings();
  await restAndJudge(matrix, findings);
  expect(renderFindings(findings.list)).toBe("All invariants hold.");
});

describe("a planted bug is caught:", () => {
  test.each(scriptBugs)("$name", async ({ find, replace, life: name, faults, invariant }) => {
    const findings = new Findings();
    await writeFile(script(), patched(original, { file: "deploy/github/headroom.mjs", find, replace }));
    const life = named.find(([each]) => each === name)?.[1];
    try {
      if (life === undefined) await playHeartbeats(matrix, findings);
      else await playLife(matrix, life, findings, (fault) => faults.includes(fault.name));
    } finally {
      await writeFile(script(), original);
    }
    expect(findings.list.map((each) => each.invariant)).toContain(invariant);
  });
});
