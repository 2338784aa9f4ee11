/** What a query may ask for in total, and which regular expressions may be sent. */
import { expect, it } from "vitest";
import { readQuery, type SplitQuery } from "./request.ts";

type Pair = [name: string, value: string];

function read(pairs: readonly Pair[]): SplitQuery {
  return readQuery(new URLSearchParams([...pairs]), null, 9);
}

function times(count: number, name: string, value: string): Pair[] {
  return Array.from({ length: count }, () => [name, value]);
}

function listOf(count: number, item: (place: number) => string): string {
  return Array.from({ length: count }, (_, place) => item(place)).join(",");
}

function offers(value: string, operator = "match"): boolean {
  try {
    read([["a", `${operator}.${value}`]]);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "2201B", httpStatus: 400 });
    return false;
  }
}

it("the number of patterns, searches, conditions and paths in one query is limited", () => {
  expect(() => read(times(10, "a", "ilike.*x*"))).not.toThrow();
  expect(() => read(times(11, "a", "like.x*"))).toThrow("patterns");
  expect(() => read(times(4, "or", "(a.fts.x,a.match.x,a.plfts.x)"))).toThrow("patterns");
  expect(() => read([["a", `like.${"*".repeat(201)}`]])).toThrow("200 characters");
  expect(() => read([["a", `eq.${"*".repeat(201)}`]])).not.toThrow();
  expect(() => read(times(3, "or", `(${listOf(70, () => "a.eq.1")})`))).toThrow("conditions");
  expect(() => read([["select", listOf(51, (place) => `a->${place}`)]])).toThrow("paths");
});

it("only regular expressions that are cheap for every text are allowed", () => {
  for (const value of [
    "^ACME",
    "acme$",
    "a.*b",
    "^(ab|cd)+$",
    "^[A-Z]{2,3}-\\d+",
    "(^|,)x(,|$)",
    "[\\w.-]+@x\\.org",
    "ü+",
    "",
    "a|b",
    "a+?",
  ]) {
    expect([value, offers(value)]).toEqual([value, true]);
  }
  for (const value of [
    "(a)\\1",
    "(.*)(.*)\\2\\1",
    "((a*)*)*",
    "(a{1,9}){1,9}",
    "a{1,255}",
    "a{10}",
    "(^a*)*",
    "(a$)+",
    "(^|$|a?)(^|$|a?)(^|b)",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "(?i)a",
    "***=a",
    "***:(a)\\1",
    "[[:alpha:]]",
    "[[.a.]]",
    "[a-\u{10ffff}]",
    "[\\u0000-\\uffff]",
    "\\x41",
    "a**",
    "(a",
    "a)",
    "[a",
    "a\\",
  ]) {
    expect([value, offers(value)]).toEqual([value, false]);
  }
  expect(offers("{^a,b$}", "match(any)")).toBe(true);
  expect(offers('{"(a)\\\\1"}', "imatch(all)")).toBe(false);
});
