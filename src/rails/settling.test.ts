import { expect, test } from "vitest";
import { createSettling } from "./settling.ts";

test("a miss counts once enough time has passed since this process sent the row", () => {
  let now = 1_000;
  const settling = createSettling(500, () => now);
  settling.sent("row");
  now += 200;
  expect(settling.missed("row")).toBe(300);
  now += 300;
  expect(settling.missed("row")).toBe(0);
});

test("a row that another process sent must be missed twice, with enough time between", () => {
  let now = 1_000;
  const settling = createSettling(500, () => now);
  expect(settling.missed("row")).toBe(500);
  now += 499;
  expect(settling.missed("row")).toBe(1);
  now += 1;
  expect(settling.missed("row")).toBe(0);
});

test("sending again begins the wait anew", () => {
  let now = 0;
  const settling = createSettling(500, () => now);
  settling.sent("row");
  now = 400;
  settling.sent("row");
  now = 600;
  expect(settling.missed("row")).toBe(300);
});

test("what is forgotten beyond its bound only waits once more", () => {
  const settling = createSettling(500, () => 0);
  for (let row = 0; row < 20_000; row += 1) settling.sent(String(row));
  expect(settling.missed("0")).toBe(500);
});

test("without a time to settle the first miss counts", () => {
  expect(createSettling(0).missed("row")).toBe(0);
});
