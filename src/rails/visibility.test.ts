import { expect, test } from "vitest";
import type { RailOutcome } from "../contract/rail.ts";
import { createVisibility } from "./visibility.ts";

const unknown: RailOutcome = { kind: "unknown", code: "timed_out", reason: "" };
const delivered: RailOutcome = { kind: "delivered" };

test("a miss counts once enough time has passed since this process sent the row", async () => {
  let now = 1_000;
  const visibility = createVisibility(500, () => now);
  await visibility.during("row", async () => unknown);
  now += 200;
  expect(visibility.missed("row")).toBe(300);
  now += 300;
  expect(visibility.missed("row")).toBe(0);
});

test("a row that another process sent must be missed twice, with enough time between", () => {
  let now = 1_000;
  const visibility = createVisibility(500, () => now);
  expect(visibility.missed("row")).toBe(500);
  now += 499;
  expect(visibility.missed("row")).toBe(1);
  now += 1;
  expect(visibility.missed("row")).toBe(0);
});

test.each<[string, () => Promise<RailOutcome>]>([
  ["without an answer", async () => unknown],
  ["in an error", () => Promise.reject(new Error("lost"))],
])("the time counts from the end of a send that ended %s, however long it was", async (_how, end) => {
  let now = 1_000;
  const visibility = createVisibility(500, () => now);
  const sending = visibility.during("row", () => {
    now += 15_000;
    return end();
  });
  await sending.catch(() => undefined);
  now += 100;
  expect(visibility.missed("row")).toBe(400);
});

test("sending again restarts the wait", async () => {
  let now = 0;
  const visibility = createVisibility(500, () => now);
  await visibility.during("row", async () => unknown);
  now = 400;
  await visibility.during("row", async () => unknown);
  now = 600;
  expect(visibility.missed("row")).toBe(300);
});

test("a row that was forgotten beyond the bound only waits again", async () => {
  const visibility = createVisibility(500, () => 0);
  for (let row = 0; row < 20_000; row += 1) await visibility.during(String(row), async () => delivered);
  expect(visibility.missed("0")).toBe(500);
});

test("without a time to settle the first miss counts", () => {
  expect(createVisibility(0).missed("row")).toBe(0);
});
