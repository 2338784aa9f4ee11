import fc from "fast-check";
import { expect, test } from "vitest";
import { digitsOf, hasInexactNumber, parseStored, parseToPassOn } from "./exact-json.ts";

test.each([
  ["9007199254740993", true],
  ["9007199254740992", false],
  ["1234567890123456.78", true],
  ["9223372036854775807", true],
  [`1${"0".repeat(400)}`, true],
  [`1${"0".repeat(22)}`, false],
  [`0.${"0".repeat(400)}1`, true],
  ["123456789012345.60", false],
  ["0.1", false],
  ["-0.30000000000000004", false],
])("whether %s would come out as another number", (text, inexact) => {
  expect(hasInexactNumber(`{"deep": [{"n": ${text}}]}`)).toBe(inexact);
  expect(hasInexactNumber(`{"n": "${text}"}`)).toBe(false);
});

test("whatever JavaScript wrote itself it holds", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(hasInexactNumber(`[${BigInt.asIntN(64, BigInt(Math.trunc(value) % 2 ** 52)).toString()}]`)).toBe(false);
      expect(JSON.stringify(parseToPassOn(JSON.stringify([value])))).toBe(JSON.stringify([value]));
    }),
  );
});

test("what is passed on keeps its digits", () => {
  const text = '{"id":9007199254740993,"rate":1.10,"list":[1e400,{"x":-12345678901234567890.5}]}';
  expect(JSON.stringify(parseToPassOn(text))).toBe(text.replace("1.10", "1.1"));
});

test("what is no JSON or too deep is not passed on", () => {
  expect(parseToPassOn("{")).toBeUndefined();
  expect(parseToPassOn('{"n": 1e999999}')).toBeUndefined();
  expect(parseToPassOn('{"n": 1e-131071}')).toBeUndefined();
  expect(parseToPassOn("[".repeat(64) + "]".repeat(64))).toBeDefined();
  expect(parseToPassOn("[".repeat(65) + "]".repeat(65))).toBeUndefined();
  expect(parseToPassOn("[".repeat(100_000) + "]".repeat(100_000))).toBeUndefined();
});

test("what is read of the database keeps its digits, and says them", () => {
  const read = parseStored('{"cost": 1234567890123456.78, "n": 12.5, "t": "1234567890123456.78"}') as Record<
    string,
    unknown
  >;
  expect([digitsOf(read["cost"]), digitsOf(read["n"]), digitsOf(read["t"])]).toEqual([
    "1234567890123456.78",
    "12.5",
    undefined,
  ]);
  expect(JSON.stringify(read)).toBe('{"cost":1234567890123456.78,"n":12.5,"t":"1234567890123456.78"}');
});
