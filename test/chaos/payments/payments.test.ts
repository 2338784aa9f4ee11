/**
 * The short form of `npm run chaos -- --payments`, and a test of its oracle. Flags select long runs and all planted bugs.
 */
import { describe, expect } from "vitest";
import { testSubject } from "../kit/planted-tests.ts";
import { renderFindings } from "../kit/report.ts";
import { planted } from "./planted.ts";
import { runPayments } from "./run.ts";
import { paymentsSettings } from "./settings.ts";

const never = new AbortController().signal;

describe("chaos with money", async () => {
  await testSubject("payments", {
    shortRun: {
      name: "a short run in which everything fails keeps the books to the cent",
      async play() {
        const settings = paymentsSettings({ seed: 12, minutes: 1.5, count: 30 });
        const result = await runPayments({ ...settings, relays: 1 }, { signal: never });
        expect(renderFindings(result.findings)).toBe("All invariants hold.");
      },
    },
    planted,
    seed: 1,
  });
});
