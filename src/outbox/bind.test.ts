import fc from "fast-check";
import { expect, test } from "vitest";
import { fillBinds, readCaptures } from "./bind.ts";

test("a capture is read along its path, through objects and arrays", () => {
  const response = { message: { ts: "1.2", tags: ["a", "b"] } };
  expect(
    readCaptures({ ts: ["message", "ts"], second: ["message", "tags", 1], none: ["message", "no"] }, response),
  ).toEqual({
    ts: "1.2",
    second: "b",
  });
});

test("captures that are no captures bring nothing and break nothing", () => {
  expect(readCaptures("garbage", { a: 1 })).toEqual({});
  expect(readCaptures({ a: "not a path" }, { a: 1 })).toEqual({});
  expect(readCaptures({ a: ["__proto__", "polluted"] }, {})).toEqual({});
});

test("a bind fills its place and leaves the rest of the payload, and the original, as they were", () => {
  const payload = { text: "hi", nested: { list: [1, 2] } };
  const bound = fillBinds(
    payload,
    [
      { path: ["nested", "list", 1], capture: "n" },
      { path: ["thread", "ts"], capture: "ts" },
    ],
    { n: 9, ts: "1.2" },
  );
  expect(bound).toEqual({ ok: true, payload: { text: "hi", nested: { list: [1, 9] }, thread: { ts: "1.2" } } });
  expect(payload).toEqual({ text: "hi", nested: { list: [1, 2] } });
});

test("a required bind that nobody captured is refused, an optional one is left out", () => {
  expect(fillBinds({}, [{ path: ["a"], capture: "x" }], {})).toMatchObject({ ok: false, code: "binding_missing" });
  expect(fillBinds({ b: 1 }, [{ path: ["a"], capture: "x", required: false }], {})).toEqual({
    ok: true,
    payload: { b: 1 },
  });
});

test("whatever stands in the binds column, filling never throws and never touches a prototype", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (payload, binds) => {
      fillBinds(structuredClone(payload) as never, binds as never, { x: "polluted" });
      fillBinds(structuredClone(payload) as never, [{ path: ["__proto__", "polluted"], capture: "x" }], {
        x: "polluted",
      });
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    }),
  );
});
