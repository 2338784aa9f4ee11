/**
 * The short form of `npm run chaos -- --notifications`, and a test of its oracle. Flags select long runs and all planted bugs.
 */
import { describe, expect, it } from "vitest";
import { testPlanted } from "../kit/planted-tests.ts";
import { renderFindings } from "../kit/report.ts";
import { planted } from "./planted.ts";
import { runNotifications } from "./run.ts";
import { notificationsSettings } from "./settings.ts";

const boundMs = 240_000;
const never = new AbortController().signal;

describe("chaos with notifications", () => {
  it("a short run in which everything fails tells everybody everything, once", { timeout: boundMs }, async () => {
    const settings = notificationsSettings({ seed: 13, minutes: 0.5, count: 120 });
    const result = await runNotifications({ ...settings, relays: 2 }, { signal: never });
    expect(renderFindings(result.findings)).toBe("All invariants hold.");
  });

  testPlanted(planted, 1);
});
