/**
 * The short form of `npm run chaos -- --provisioning`, and its oracle tried on itself. Long runs and all planted bugs come by flag.
 */
import { describe, expect, it } from "vitest";
import { testPlanted } from "../kit/planted-tests.ts";
import { renderFindings } from "../kit/report.ts";
import { planted } from "./planted.ts";
import { runProvisioning } from "./run.ts";
import { provisioningSettings } from "./settings.ts";

const boundMs = 240_000;
const never = new AbortController().signal;

describe("chaos in provisioning", () => {
  it("a short run in which everything fails loses no job and runs none twice", { timeout: boundMs }, async () => {
    const result = await runProvisioning(provisioningSettings({ seed: 11, minutes: 0.25 }), { signal: never });
    expect(renderFindings(result.findings)).toBe("All invariants hold.");
  });

  testPlanted(planted, 1);
});
