/**
 * The short form of `npm run chaos`, and a test of its oracle. Flags select long runs and all planted bugs.
 */
import { describe, expect } from "vitest";
import { planted } from "./engine/planted.ts";
import { runEngine } from "./engine/run.ts";
import { ordinarySettings } from "./engine/settings.ts";
import { testSubject } from "./kit/planted-tests.ts";
import { renderFindings } from "./kit/report.ts";

const never = new AbortController().signal;

describe("chaos", async () => {
  await testSubject("engine", {
    shortRun: {
      name: "a short run in which everything fails breaks no invariant",
      async play() {
        const result = await runEngine(ordinarySettings({ seed: 7, minutes: 0.2, relays: 3 }), { signal: never });
        expect(renderFindings(result.findings)).toBe("All invariants hold.");
        expect(result.sections["rows"]).toHaveProperty("lost", 0);
        expect(result.sections["requests at the receiver"]).toHaveProperty("not matched", 0);
        expect(result.sections["faults"]).toHaveProperty("kill -9 of Postgres");
      },
    },
    planted,
    seed: 7,
  });
});
