/**
 * The short form of `npm run chaos -- --provisioning`, and its oracle tried on itself. Long runs and all planted bugs come by flag.
 */
import { describe, expect, it } from "vitest";
import { requireFitting } from "../planted/patch.ts";
import { renderFindings } from "../report.ts";
import { plantedBugs, runPlantedProvisioning } from "./planted.ts";
import { runSeeded } from "./seeded-run.ts";
import { provisioningSettings } from "./settings.ts";

const boundMs = 240_000;
const never = new AbortController().signal;

describe("chaos in provisioning", () => {
  it("a short run in which everything fails loses no job and runs none twice", { timeout: boundMs }, async () => {
    const result = await runSeeded(provisioningSettings({ seed: 11, minutes: 0.25 }), { signal: never });
    expect(renderFindings(result.findings)).toBe("All invariants hold.");
  });

  it(
    "a callback without a fence is caught, and the code as it is passes the same scene",
    { timeout: boundMs },
    async () => {
      const only = "a callback without a fence";
      const { outcomes } = await runPlantedProvisioning({ only, signal: never, onProgress: () => undefined });
      expect(outcomes.map(({ bug, ok }) => ({ bug, ok }))).toEqual([
        { bug: null, ok: true },
        { bug: only, ok: true },
      ]);
      expect(outcomes[1]?.findings.map(({ invariant }) => invariant)).toContain("verify: stranger_obeyed");
    },
  );

  it("every planted bug still fits the code", async () => {
    await expect(requireFitting(plantedBugs.flatMap(({ patches }) => patches))).resolves.toBeUndefined();
  });
});
