import { expect, it } from "vitest";
import { KeptStatements, nameOf } from "./kept-statements.ts";

/** Sends the statement and reports success. Returns how it was sent to the server. */
function comes(kept: KeptStatements, name: string, who: string): "plain" | "new" | "old" {
  const use = kept.use("read", name, who);
  kept.answered("read", name, who);
  if (use === undefined) return "plain";
  return use.isOld ? "old" : "new";
}

const keeps = (kept: KeptStatements, name: string, who: string) => [
  comes(kept, name, who),
  comes(kept, name, who),
  comes(kept, name, who),
];

it("a text is kept when it is sent again after it succeeded", () => {
  const kept = new KeptStatements();
  expect(keeps(kept, "a", "acme")).toEqual(["plain", "new", "old"]);
  expect(kept.use("read", "b", "acme")).toBeUndefined();
  expect(kept.use("read", "b", "acme")).toBeUndefined();
});

it("a caller that keeps sending new texts evicts only their own", () => {
  const kept = new KeptStatements();
  for (const name of ["g1", "g2"]) expect(keeps(kept, name, "globex")).toEqual(["plain", "new", "old"]);
  for (let turn = 0; turn < 500; turn += 1) keeps(kept, `a${turn}`, "acme");
  expect([comes(kept, "g1", "globex"), comes(kept, "g2", "globex")]).toEqual(["old", "old"]);
  expect(keeps(kept, "g3", "globex")).toEqual(["plain", "new", "old"]);
  expect(comes(kept, "a499", "acme")).toBe("old");
  expect(comes(kept, "a1", "acme")).toBe("plain");
});

it("the least recently used text is evicted, and there is a maximum", () => {
  const kept = new KeptStatements();
  const givenUp: string[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    comes(kept, `a${turn}`, "acme");
    comes(kept, `a${turn}`, "acme");
    givenUp.push(...kept.takeGivenUp());
    comes(kept, "a0", "acme");
  }
  expect(givenUp).toEqual(Array.from({ length: 12 }, (_, turn) => `a${turn + 1}`));
});

it("a name means one text and one role", () => {
  const names = [nameOf("select 1", "anon"), nameOf("select 1", "service_role"), nameOf("select 2", "anon")];
  expect(new Set(names).size).toBe(3);
  expect(nameOf("select 1", "anon")).toBe(names[0]);
});
