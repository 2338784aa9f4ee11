import { expect, it } from "vitest";
import { readQuery } from "./request.ts";
import { isSteady } from "./steady.ts";

const steady = (query: string): boolean => isSteady(readQuery(new URLSearchParams(query), null, 1000).read);

it("a whole list, and a read by one id, have the same plan whatever the values are", () => {
  for (const query of [
    "",
    "order=created_at.desc&limit=50",
    "select=id,state,offer->plan",
    "id=eq.CR-1",
    "offset=50",
  ]) {
    expect(steady(query), query).toBe(true);
  }
});

it("a condition that matches some values more often than others is planned each time", () => {
  for (const query of ["state=eq.UNDER_REVIEW", "id=neq.CR-1", "id=not.eq.CR-1", "id=in.(CR-1)", "id->a=eq.1"]) {
    expect(steady(query), query).toBe(false);
  }
  expect(steady("or=(id.eq.CR-1,id.eq.CR-2)")).toBe(false);
  expect(steady("id=eq.CR-1&state=eq.UNDER_REVIEW")).toBe(false);
});

it("a read that repeats a column is not kept", () => {
  expect(steady("select=a:offer->a,b:offer->b")).toBe(false);
  expect(steady("select=*,a:offer")).toBe(false);
  expect(steady("order=a,b,c,d")).toBe(false);
});
