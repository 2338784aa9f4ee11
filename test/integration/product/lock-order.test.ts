/**
 * No two calls deadlock: every exposed call that writes runs into every other, about the same things, in both orders, wherever one holds
 * what the other needs. docs/architecture.md has the order in which locks are taken.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { callsOf, exposed } from "./calling.ts";
import { startInstallation } from "./installation.ts";
import { Crossing, meetingsOf, type Trace } from "./steps.ts";

// Locks are the same in every version, and this is the longest of all tests.
describe.each([18] as const)("any two calls at the same time on PostgreSQL %i", async (version) => {
  const installation = await startInstallation(version);
  beforeAll(() => installation.make());

  test("never deadlock, whatever they are", { timeout: 300_000 }, async () => {
    const catalogue = await exposed(installation.money.superuser);
    const { writing } = callsOf(installation, catalogue);
    const crossing = await Crossing.open(installation.money.db, catalogue);
    const traces: Trace[] = [];
    for (const call of writing) traces.push(await crossing.trace(call));
    const meetings = traces.flatMap((first) => traces.flatMap((second) => meetingsOf(first, second)));
    // If nothing were traced, nothing would meet.
    expect(meetings.length).toBeGreaterThan(1_000);
    const deadlocks = new Set<string>();
    for (const meeting of meetings) {
      const codes = await crossing.meet(meeting);
      if (!codes.some((code) => code === "40P01" || code === "40001")) continue;
      deadlocks.add(`${meeting.first.call.of} and ${meeting.second.call.of}: ${codes.join(" and ")}`);
    }
    await crossing.close();
    expect([...deadlocks]).toEqual([]);
  });
});
