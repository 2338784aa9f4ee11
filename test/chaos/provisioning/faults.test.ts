/**
 * Every call between workflow script, server and GitHub is answered once in every wrong way: no success becomes a failure, no failure a
 * success, no customer has two runs, no cleanup is forgotten, and everyone who waits is informed.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Findings } from "../kit/findings.ts";
import { renderFindings } from "../kit/report.ts";
import { collectTests, ofTier } from "../kit/tiers.ts";
import { lives, openMatrix, playHeartbeats, playLife, restAndJudge, type MatrixStage } from "./fault-matrix.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let matrix: MatrixStage;
beforeAll(async () => {
  matrix = await openMatrix();
});
afterAll(async () => {
  vi.resetConfig();
  await matrix[Symbol.asyncDispose]();
});

const plays = collectTests();
for (const life of lives)
  plays.add(`${life.name}, each of its calls spoiled once`, async () => {
    const findings = new Findings();
    await playLife(matrix, life, findings);
    expect(renderFindings(findings.list)).toBe("All invariants hold.");
  });

plays.add("a run goes on while its heartbeats are spoiled in every way", async () => {
  const findings = new Findings();
  await playHeartbeats(matrix, findings);
  expect(renderFindings(findings.list)).toBe("All invariants hold.");
});

test.each(await ofTier(plays.tests, 1))("$name", ({ play }) => play());

test("afterwards what holds for all jobs holds", async () => {
  const findings = new Findings();
  await restAndJudge(matrix, findings);
  expect(renderFindings(findings.list)).toBe("All invariants hold.");
});
