/**
 * The short form of `npm run chaos -- --provisioning`, and a test of its oracle. Flags select long runs and all planted bugs.
 */
import { describe, expect } from "vitest";
import { testSubject } from "../kit/planted-tests.ts";
import { renderFindings } from "../kit/report.ts";
import { planted } from "./planted.ts";
import { runProvisioning } from "./run.ts";
import { provisioningSettings } from "./settings.ts";

const never = new AbortController().signal;

describe("chaos in provisioning", async () => {
  await testSubject("provisioning", {
    shortRun: {
      name: "a short run in which everything fails loses no job and runs none twice",
      async play() {
        const result = await runProvisioning(provisioningSettings({ seed: 11, minutes: 0.25 }), { signal: never });
        expect(renderFindings(result.findings)).toBe("All invariants hold.");
      },
    },
    planted,
    seed: 1,
  });
});
