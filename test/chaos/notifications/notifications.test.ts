/**
 * The short form of `npm run chaos -- --notifications`, and its oracle tried on itself. Long runs and all planted bugs come by flag.
 */
import { describe, expect, it } from "vitest";
import { requireFitting } from "../planted/patch.ts";
import { renderFindings } from "../report.ts";
import { plantedBugs, runPlantedNotifications } from "./planted.ts";
import { runNotifications } from "./seeded-run.ts";
import { notificationsSettings } from "./settings.ts";

const boundMs = 240_000;
const never = new AbortController().signal;

describe("chaos with notifications", () => {
  it("a short run in which everything fails tells everybody everything, once", { timeout: boundMs }, async () => {
    const settings = notificationsSettings({ seed: 13, minutes: 0.5, count: 120 });
    const result = await runNotifications({ ...settings, relays: 2 }, { signal: never });
    expect(renderFindings(result.findings)).toBe("All invariants hold.");
  });

  it(
    "a forgotten suppression is caught, and the code as it is passes the same scene",
    { timeout: boundMs },
    async () => {
      const only = "a suppression is ignored";
      const { outcomes } = await runPlantedNotifications({ only, signal: never, onProgress: () => undefined });
      expect(outcomes.map(({ bug, ok }) => ({ bug, ok }))).toEqual([
        { bug: null, ok: true },
        { bug: only, ok: true },
      ]);
      expect(outcomes[1]?.findings.map(({ invariant }) => invariant)).toContain(
        "nothing goes to an address that is suppressed",
      );
    },
  );

  it("every planted bug about notifications still fits the code", async () => {
    await expect(requireFitting(plantedBugs.flatMap(({ patches }) => patches))).resolves.toBeUndefined();
  });
});
