/**
 * Some of the lives of `npm run chaos -- --payments --lives 500`. lives-planted.test.ts tests the oracle with planted bugs.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { secondTier } from "../../../helpers/clusters.ts";
import { renderFindings } from "../../kit/report.ts";
import { fewOf, ofTier } from "../../kit/tiers.ts";
import { lifeOf } from "./life.ts";
import { openPlace, type Place } from "./place.ts";
import { livesSettings, runLives } from "./run.ts";

const boundMs = 300_000;
const never = new AbortController().signal;

/** Of two worlds, of which the second goes live. */
const lives = [
  { name: "lives 170 to 199 of seed 7 end with the books that Stripe has", seed: 7, from: 170, lives: 30 },
  { name: "lives 200 to 229 of seed 7 end with the books that Stripe has", seed: 7, from: 200, lives: 30 },
];

/** Lives that once disagreed with Stripe's books. */
const once = (
  [
    [
      28,
      70,
      "our refund, which Stripe was still to refuse, was counted in addition to one that somebody made meanwhile",
    ],
    [28, 222, "what is left of a payment was missed while the refund before it was on its way"],
  ] as const
).map(([seed, from, was]) => ({ name: `a life that was judged wrongly before: ${was}`, seed, from, lives: 1 }));

const { runs } = await fewOf("lives");
const ours = [...(await ofTier(lives, runs)), ...(await ofTier(once, runs))];

if (!secondTier)
  it("a seed and a number are one life", () => {
    expect(lifeOf(7, 170)).toEqual(lifeOf(7, 170));
    expect(lifeOf(7, 171)).not.toEqual(lifeOf(7, 170));
    expect(lifeOf(8, 170)).not.toEqual(lifeOf(7, 170));
  });

if (ours.length > 0) {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace();
  }, boundMs);
  afterAll(() => place.close());

  it.each(ours)("$name", { timeout: boundMs }, async (settings) => {
    const said: string[] = [];
    const hooks = { signal: never, onProgress: (line: string) => void said.push(line) };
    const { findings } = await runLives(livesSettings(settings), hooks, place);
    expect(renderFindings(findings), said.join("\n")).toBe("All invariants hold.");
  });
}
