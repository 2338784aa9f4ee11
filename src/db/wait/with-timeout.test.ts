import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { withTimeout } from "./with-timeout.ts";

const never = new Promise<never>(() => undefined);

test("work that comes in time gives its value, whichever way the time is limited", async () => {
  expect(await withTimeout(Promise.resolve(1), 60_000)).toEqual({ kind: "done", value: 1 });
  expect(await withTimeout(Promise.resolve(2), new AbortController().signal)).toEqual({ kind: "done", value: 2 });
});

test("work that does not come is late", async () => {
  expect(await withTimeout(never, 1)).toEqual({ kind: "late" });
  expect(await withTimeout(never, AbortSignal.abort())).toEqual({ kind: "late" });
  const controller = new AbortController();
  const waiting = withTimeout(never, controller.signal);
  controller.abort();
  expect(await waiting).toEqual({ kind: "late" });
});

test("a failure in time is thrown, and a later one disturbs nobody", async () => {
  await expect(withTimeout(Promise.reject(new Error("broken")), 60_000)).rejects.toThrow("broken");
  const { promise, reject } = Promise.withResolvers<never>();
  expect(await withTimeout(promise, AbortSignal.abort())).toEqual({ kind: "late" });
  // An unhandled rejection would fail the run.
  reject(new Error("too late"));
});

test("nothing is left on the signal afterwards", async () => {
  const { signal } = new AbortController();
  await withTimeout(Promise.resolve(), signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
