/**
 * The short form of `npm run chaos -- --notifications`, and a test of its oracle. Flags select long runs and all planted bugs.
 */
import { describe, expect } from "vitest";
import { testSubject } from "../kit/planted-tests.ts";
import { renderFindings } from "../kit/report.ts";
import { planted } from "./planted.ts";
import { runNotifications } from "./run.ts";
import { notificationsSettings } from "./settings.ts";

const never = new AbortController().signal;

describe("chaos with notifications", async () => {
  await testSubject("notifications", {
    shortRun: {
      name: "a short run in which everything fails tells everybody everything, once",
      async play() {
        const settings = notificationsSettings({ seed: 13, minutes: 0.5, count: 120 });
        const result = await runNotifications({ ...settings, relays: 2 }, { signal: never });
        expect(renderFindings(result.findings)).toBe("All invariants hold.");
      },
    },
    planted,
    seed: 1,
  });
});
