import fc from "fast-check";
import { expect, test } from "vitest";
import { type BindSources, type Captured, fillBinds, namesRenderer, readCaptures } from "./bind.ts";

const captured = (values: Captured): BindSources => ({ captured: values, rendered: {} });

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
    captured({ n: 9, ts: "1.2" }),
  );
  expect(bound).toEqual({ ok: true, payload: { text: "hi", nested: { list: [1, 9] }, thread: { ts: "1.2" } } });
  expect(payload).toEqual({ text: "hi", nested: { list: [1, 2] } });
});

test("a required bind that nobody captured is refused, an optional one is left out", () => {
  expect(fillBinds({}, [{ path: ["a"], capture: "x" }], captured({}))).toMatchObject({
    ok: false,
    code: "binding_missing",
  });
  expect(fillBinds({ b: 1 }, [{ path: ["a"], capture: "x", required: false }], captured({}))).toEqual({
    ok: true,
    payload: { b: 1 },
  });
});

test("whatever stands in the binds column, filling never throws and never touches a prototype", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (payload, binds) => {
      fillBinds(structuredClone(payload) as never, binds as never, captured({ x: "polluted" }));
      fillBinds(
        structuredClone(payload) as never,
        [{ path: ["__proto__", "polluted"], capture: "x" }],
        captured({ x: "polluted" }),
      );
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    }),
  );
});

test("a renderer's value takes its place before captures are filled into it", () => {
  const binds = [
    { path: [], renderer: "root" },
    { path: ["ts"], capture: "ts" },
  ];
  const sources = { captured: { ts: "1.2" }, rendered: { root: { value: { text: "as it stands" } } } };
  expect(namesRenderer(binds)).toBe(true);
  expect(fillBinds({ request: "CR-1" }, binds, sources)).toEqual({
    ok: true,
    payload: { text: "as it stands", ts: "1.2" },
  });
});

test("a row whose renderer failed or is not known is tried again, not sent as it is", () => {
  const binds = [{ path: [], renderer: "root" }];
  expect(fillBinds({}, binds, { captured: {}, rendered: { root: { problem: "boom" } } })).toMatchObject({
    ok: false,
    outcome: "retry",
    code: "render_failed",
    reason: expect.stringContaining("boom"),
  });
  expect(fillBinds({}, binds, captured({}))).toMatchObject({ ok: false, outcome: "retry", code: "render_failed" });
});
