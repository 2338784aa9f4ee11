import { describe, expect, test } from "vitest";
import type { Rail } from "./rail.ts";
import { checkRail, createRailRegistry } from "./registry.ts";

function railOf(changes: Readonly<Record<string, unknown>> = {}): Rail {
  const rail: Rail = {
    name: "pigeon",
    capability: "idempotent",
    timeoutMs: 1_000,
    send: () => ({ kind: "delivered" }),
  };
  return Object.assign(rail, changes);
}

const lookup = (): { kind: "absent" } => ({ kind: "absent" });

describe("a registry of rails", () => {
  test("finds a rail by its name", () => {
    const pigeon = railOf();
    const registry = createRailRegistry([pigeon, railOf({ name: "horse" })]);
    expect(registry.get("pigeon")).toBe(pigeon);
    expect(registry.names()).toEqual(["pigeon", "horse"]);
    expect(registry.has("ship")).toBe(false);
    expect(registry.find("ship")).toBeUndefined();
  });

  test("says which rails it has when asked for another", () => {
    const registry = createRailRegistry([railOf(), railOf({ name: "horse" })]);
    expect(() => registry.get("ship")).toThrow(
      expect.objectContaining({ code: "unknown_rail", detail: "Registered: pigeon, horse." }),
    );
  });

  test("does not take an inherited property for a rail", () => {
    expect(createRailRegistry().has("constructor")).toBe(false);
  });

  test("refuses a second rail of the same name", () => {
    const registry = createRailRegistry([railOf()]);
    expect(() => registry.add(railOf())).toThrow(expect.objectContaining({ code: "rail_duplicate" }));
  });
});

describe("a rail is accepted", () => {
  test.each([
    ["with a time-out at the limit", railOf({ timeoutMs: 30_000 })],
    ["with a name of 63 characters", railOf({ name: `p${"-".repeat(62)}` })],
    ["that looks up", railOf({ capability: "lookup", lookup })],
    ["that is blind", railOf({ capability: "blind" })],
    ["with a window of deduplication", railOf({ dedupWindowMs: 1 })],
    ["with a concurrency and codes", railOf({ concurrency: 1, codes: ["http_4xx", "gone"] })],
  ])("%s", (_title, rail) => {
    expect(() => checkRail(rail)).not.toThrow();
  });
});

describe("a rail is refused", () => {
  test.each([
    ["with an empty name", railOf({ name: "" }), "bad name"],
    ["with capitals in its name", railOf({ name: "Pigeon" }), "bad name"],
    ["with a name that starts with a digit", railOf({ name: "1st" }), "bad name"],
    ["with a name of 64 characters", railOf({ name: "p".repeat(64) }), "bad name"],
    ["with a line break after its name", railOf({ name: "pigeon\n" }), "bad name"],
    ["without a name", railOf({ name: undefined }), "bad name"],
    ["with an unknown capability", railOf({ capability: "magic" }), "unknown capability"],
    ["without send", railOf({ send: undefined }), "no send function"],
    ["with a validate that cannot be called", railOf({ validate: true }), "validate that is not a function"],
    ["that looks up without a lookup", railOf({ capability: "lookup" }), "no lookup function"],
    ["with a lookup that it does not declare", railOf({ lookup }), "has a lookup function"],
    ["with a time-out of 0", railOf({ timeoutMs: 0 }), "time-out of 0"],
    ["with a negative time-out", railOf({ timeoutMs: -1 }), "time-out of -1"],
    ["with a time-out beyond the limit", railOf({ timeoutMs: 30_001 }), "time-out of 30001"],
    ["with a time-out that is no number", railOf({ timeoutMs: Number.NaN }), "time-out of NaN"],
    ["with a concurrency of 0", railOf({ concurrency: 0 }), "concurrency of 0"],
    ["with a window although it is blind", railOf({ capability: "blind", dedupWindowMs: 1 }), "has a dedupWindowMs"],
    ["with a window of 0", railOf({ dedupWindowMs: 0 }), "dedupWindowMs of 0"],
    ["with a code that is prose", railOf({ codes: ["It failed"] }), "bad code"],
    ["with a code twice", railOf({ codes: ["gone", "gone"] }), "code twice"],
  ])("%s", (_title, rail, message) => {
    expect(() => checkRail(rail)).toThrow(
      expect.objectContaining({ code: "rail_invalid", message: expect.stringContaining(message) }),
    );
  });
});
