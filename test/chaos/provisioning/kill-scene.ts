/**
 * The stage for tests that kill parts at named steps, and how a job must look in the end.
 *
 * Does not own: which part is killed when.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { eventually } from "../kit/eventually.ts";
import { Findings } from "../kit/findings.ts";
import { renderFindings } from "../kit/report.ts";
import type { TierTest } from "../kit/tiers.ts";
import { judge } from "./oracle.ts";
import { calm } from "./settings.ts";
import { ProvisioningStage, type Job } from "./stage.ts";

const boundMs = 120_000;

let opened: ProvisioningStage | undefined;
let customers = 0;

/** Call it while tests are being collected. */
export function testKills(kills: readonly TierTest[]): void {
  vi.setConfig({ testTimeout: boundMs, hookTimeout: boundMs });
  beforeAll(async () => {
    opened = await ProvisioningStage.open();
  });
  afterAll(async () => {
    vi.resetConfig();
    await opened?.close();
  });
  beforeEach(() => {
    stage().sandbox.faults.clear();
    stage().sandbox.github.planNext(calm);
  });
  afterEach(async () => {
    await stage().startServer();
    await stage().startRelay();
  });
  test.each(kills)("$name", ({ play }) => play());
}

export function stage(): ProvisioningStage {
  if (opened === undefined) throw new Error("the stage is not up");
  return opened;
}

export function said(job: Job, words: string): boolean {
  return stage()
    .runsOf(job)
    .some(({ script }) => script?.log.some((line) => line.includes(words)));
}

export function nextCustomer(): string {
  customers += 1;
  return `customer-${customers}`;
}

export async function confirmed(): Promise<Job> {
  return stage().confirm(await stage().request(nextCustomer()));
}

/** The next call of this kind is carried out, and its answer is held back until `release`. */
export function hold(method: string, after = 0): void {
  stage().sandbox.faults.add({ provider: "github", method, kind: "late", times: 1, after });
}

/** A job whose callback was committed, and whose script still waits for the answer. */
export async function heldAt(method: string, attempt: string): Promise<Job> {
  hold(method);
  await stage().startRelay();
  const job = await confirmed();
  await eventually(async () => (await stage().attemptsOf(job)).includes(attempt), attempt);
  return job;
}

export async function firstRun(job: Job, task: "provision" | "cleanup"): Promise<{ id: number }> {
  return eventually(() => stage().runsOf(job, task)[0], `a run to ${task}`);
}

/** It runs, after one attempt that one run has claimed. */
export async function runs(job: Job, attempts: readonly string[] = ["provision 1 succeeded reported"]): Promise<void> {
  await stage().until(job.request_id, ({ state }) => state === "running", "running");
  await atRest(job, attempts);
}

/** It has failed, and what it left is cleaned up. */
export async function failsCleanly(
  job: Job,
  attempts: readonly string[] = ["provision 1 failed reported", "cleanup 1 succeeded reported"],
): Promise<void> {
  await stage().until(job.request_id, ({ state, cleanup }) => state === "failed" && cleanup === "done", "cleaned up");
  await atRest(job, attempts);
}

async function atRest(job: Job, attempts: readonly string[]): Promise<void> {
  for (const { id } of stage().runsOf(job)) await stage().sandbox.github.ended(id);
  await eventually(async () => {
    await stage().passTime();
    return (await stage().countOf("outbox.pending")) === 0;
  }, "nothing to be left in the outbox");
  expect(await stage().attemptsOf(job)).toEqual(attempts);
  const findings = new Findings();
  await judge(stage(), findings);
  expect(renderFindings(findings.list)).toBe("All invariants hold.");
}
