/**
 * The order of test files: the slowest start first, so that a run does not end with one worker on a long file and the others idle.
 * Vitest records durations, but in a fresh checkout it would sort by file size.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those that take many times longer than others; the exact time does not matter. Files that need CPU alternate with files that mostly wait. */
const slowest = [
  "test/chaos/payments/lives/lives-planted.test.ts",
  "test/chaos/payments/lives/lives.test.ts",
  "test/integration/billing/cases/cases.test.ts",
  "test/chaos/provisioning/faults.test.ts",
  "test/integration/product/lock-order.test.ts",
  "test/chaos/payments/payments.test.ts",
  "test/integration/capacity/authorize/hostile-workspace.test.ts",
  "test/chaos/notifications/notifications.test.ts",
  "test/integration/product/extremes.test.ts",
  "test/chaos/chaos.test.ts",
  "test/integration/cli/installation/up.test.ts",
  "test/chaos/provisioning/kills-afterwards.test.ts",
  "test/integration/rails/slack/thread-order.test.ts",
  "test/e2e/first-ten-minutes.test.ts",
  "test/chaos/payments/kills.test.ts",
  "test/integration/db/migrate/migrate-parts.test.ts",
  "test/chaos/provisioning/provisioning.test.ts",
  "test/integration/cli/installation/package.test.ts",
  "test/chaos/provisioning/kills.test.ts",
  "test/integration/http/cost.test.ts",
  "test/integration/db/generate.test.ts",
  "test/integration/db/embedded/embedded.test.ts",
  "test/integration/cli/installation/doctor-broken.test.ts",
  "test/integration/db/upgrade/restored.test.ts",
  "test/integration/capacity/reduce/model.test.ts",
  "test/integration/db/migrate/supabase.test.ts",
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = slowest.findIndex((path) => moduleId.endsWith(path));
  return rank === -1 ? slowest.length : rank;
}

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a sequencer's method, not an array's
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
