/**
 * The suite that every rail must pass before a relay may run it.
 *
 * Owns: choosing the cases that apply and running each on its own sandbox. Does not own: the cases
 * (cases.ts), nor a test runner: `describe` and `test` are passed in, so that rails outside this package
 * can be checked as well, by any runner.
 */
import assert from "node:assert/strict";
import { conformanceCases } from "./cases.ts";
import type { ConformanceCase, ConformancePlan } from "./harness.ts";

export { sandboxFaults } from "./harness.ts";
export type { ConformanceCase, ConformancePlan, RailHarness, SandboxFault } from "./harness.ts";

/** The part of a test runner that is needed; vitest and node:test both have it. */
export interface TestRunner {
  describe(title: string, body: () => void): unknown;
  test(title: string, body: () => Promise<void>): unknown;
}

/** The cases that apply to a plan, for other kinds of runners. */
export function casesFor(plan: ConformancePlan): ConformanceCase[] {
  const impossible = new Set(Object.keys(plan.notApplicable ?? {}));
  return conformanceCases.filter(
    ({ needs, capability }) =>
      (capability === undefined || capability === plan.capability) && !needs.some((fault) => impossible.has(fault)),
  );
}

/** Runs one case on its own harness. */
export async function runCase(plan: ConformancePlan, each: ConformanceCase): Promise<void> {
  const harness = await plan.open();
  try {
    assert.equal(harness.rail.capability, plan.capability, "the plan must name the rail's capability");
    await each.run(harness);
  } finally {
    await harness.close();
  }
}

/** Registers the whole suite: `railConformance("webhook", plan, { describe, test })`. */
export function railConformance(name: string, plan: ConformancePlan, runner: TestRunner): void {
  runner.describe(`rail ${name} conforms`, () => {
    for (const each of casesFor(plan)) runner.test(each.title, () => runCase(plan, each));
  });
}
