/**
 * Some of the lives of `npm run chaos -- --payments --lives 500`. lives-planted.test.ts tests the oracle with planted bugs.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderFindings } from "../../kit/report.ts";
import { openPlace, type Place } from "./place.ts";
import { livesSettings, runLives } from "./run.ts";

const boundMs = 300_000;
const never = new AbortController().signal;
/** The lives from here on belong to two worlds, of which the second goes live. */
const [seed, from, lives] = [7, 170, 60];

let place: Place;
beforeAll(async () => {
  place = await openPlace();
}, boundMs);
afterAll(() => place.close());

describe(`lives ${from} to ${from + lives - 1} of seed ${seed}`, () => {
  it("end with the books that Stripe has", { timeout: boundMs }, async () => {
    const said: string[] = [];
    const hooks = { signal: never, onProgress: (line: string) => void said.push(line) };
    const { findings } = await runLives(livesSettings({ seed, lives, from }), hooks, place);
    expect(renderFindings(findings), said.join("\n")).toBe("All invariants hold.");
  });
});

/** Lives that once disagreed with Stripe's books: seed, number, and what was wrong. */
const once = [
  [28, 70, "our refund, which Stripe was still to refuse, was counted in addition to one that somebody made meanwhile"],
  [28, 222, "what is left of a payment was missed while the refund before it was on its way"],
] as const;

describe("a life that was judged wrongly before", () => {
  it.each(once)("seed %i, life %i: %s", { timeout: boundMs }, async (seedThen, number) => {
    const settings = livesSettings({ seed: seedThen, lives: 1, from: number });
    const { findings } = await runLives(settings, { signal: never }, place);
    expect(renderFindings(findings)).toBe("All invariants hold.");
  });
});
