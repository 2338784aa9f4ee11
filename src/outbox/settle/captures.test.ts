import { expect, test } from "vitest";
import { readCaptures } from "./captures.ts";

test("a capture is read along its path, through objects and arrays", () => {
  const response = { message: { ts: "1.2", tags: ["a", "b"] } };
  const wanted = { ts: ["message", "ts"], second: ["message", "tags", 1], none: ["message", "no"] };
  expect(readCaptures(JSON.stringify(wanted), response)).toEqual({ ts: "1.2", second: "b" });
});

test("invalid captures return nothing and break nothing", () => {
  expect(readCaptures('"garbage"', { a: 1 })).toEqual({});
  expect(readCaptures('{"a": "not a path"}', { a: 1 })).toEqual({});
  expect(readCaptures('{"a": ["__proto__", "polluted"]}', {})).toEqual({});
});
