/**
 * The short form of `npm run chaos -- --provisioning`, and a test of its oracle. Flags select long runs and all planted bugs.
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
