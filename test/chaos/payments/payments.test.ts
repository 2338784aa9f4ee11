/**
 * The short form of `npm run chaos -- --payments`, and its oracle tried on itself. Long runs and all planted bugs come by flag.
 */
import { describe, expect, it } from "vitest";
import { requireFitting } from "../planted/patch.ts";
import { renderFindings } from "../report.ts";
import { plantedBugs, runPlantedPayments } from "./planted.ts";
import { runPayments } from "./seeded-run.ts";
import { paymentsSettings } from "./settings.ts";

const boundMs = 240_000;
const never = new AbortController().signal;

describe("chaos with money", () => {
  it("a short run in which everything fails keeps the books to the cent", { timeout: boundMs }, async () => {
    const settings = paymentsSettings({ seed: 12, minutes: 1.5, count: 30 });
    const result = await runPayments({ ...settings, relays: 1 }, { signal: never });
    expect(renderFindings(result.findings)).toBe("All invariants hold.");
  });

  it("a forgotten refund is caught, and the code as it is passes the same scene", { timeout: boundMs }, async () => {
    const only = "a forgotten refund";
    const { outcomes } = await runPlantedPayments({ only, signal: never, onProgress: () => undefined });
    expect(outcomes.map(({ bug, ok }) => ({ bug, ok }))).toEqual([
      { bug: null, ok: true },
      { bug: expect.stringContaining(only), ok: true },
    ]);
    expect(outcomes[1]?.findings.map(({ invariant }) => invariant)).toContain("what bought nothing went back in full");
  });

  it("every planted bug about money still fits the code", async () => {
    await expect(requireFitting(plantedBugs.flatMap(({ patches }) => patches))).resolves.toBeUndefined();
  });
});
