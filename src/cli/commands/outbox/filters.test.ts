import { expect, test } from "vitest";
import { parseMoment } from "../../words/moment.ts";
import { hasFilter, parseId, toFilter } from "./filters.ts";

const now = new Date("2026-03-01T12:00:00Z");

test("the ends of a period are times by the database's clock", () => {
  expect(toFilter({ from: parseMoment("2026-01-31"), to: parseMoment("24h") }, now)).toEqual({
    p_from: new Date("2026-01-31T00:00:00.000Z"),
    p_to: new Date("2026-02-28T12:00:00.000Z"),
  });
});

test("what is not given is not filtered by", () => {
  expect(hasFilter({})).toBe(false);
  expect(toFilter({}, now)).toEqual({});
  expect(hasFilter({ parked: false })).toBe(true);
  expect(toFilter({ stream: "s", code: "c", parked: false }, now)).toEqual({
    p_stream: "s",
    p_error_code: "c",
    p_parked: false,
  });
});

test("an id is a UUID in any case of letters", () => {
  expect(parseId("01A1DDA1-2061-7B01-85D5-6BB05CF7DE81")).toBe("01a1dda1-2061-7b01-85d5-6bb05cf7de81");
  expect(() => parseId("01a1dda1")).toThrow("UUID");
});
