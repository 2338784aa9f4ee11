/**
 * A test of the oracle of lives: bugs planted into the product's functions must be seen within a few lives, and the same lives
 * without them must pass.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { bugsOfTier } from "../../kit/planted-tests.ts";
import { openPlace, type Place } from "./place.ts";
import { plantedLives, playScene } from "./planted.ts";

const boundMs = 300_000;
const seed = 7;
const bugs = await bugsOfTier(plantedLives);

let place: Place;
beforeAll(async () => {
  place = await openPlace();
}, boundMs);
afterAll(() => place.close());

it.each(bugs)("catches the planted bug: $name", { timeout: boundMs }, async (bug) => {
  const rules = (await playScene(place, bug.scene, bug, seed)).map(({ rule }) => rule);
  expect(rules).toContain(bug.caughtAs);
});

it.each([...new Set(bugs.map(({ scene }) => scene))])(
  "finds nothing without a bug in a world that is %s",
  { timeout: boundMs },
  async (scene) => {
    expect(await playScene(place, scene, undefined, seed)).toEqual([]);
  },
);
