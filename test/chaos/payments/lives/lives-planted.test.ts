/**
 * A test of the oracle of lives: bugs planted into the product's functions must be seen within a few lives, and the same lives
 * without them must pass.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { secondTier } from "../../../helpers/clusters.ts";
import { fewOf, ofTier } from "../../kit/tiers.ts";
import { openPlace, type Place } from "./place.ts";
import { plantedLives, playScene, requireFittingPlants } from "./planted.ts";

const boundMs = 300_000;
const seed = 7;
const bugs = await ofTier(plantedLives, (await fewOf("lives")).bugs);

if (!secondTier)
  it("every planted bug still fits the code", async () => {
    await expect(requireFittingPlants(plantedLives)).resolves.toBeUndefined();
  });

if (bugs.length > 0) {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace();
  }, boundMs);
  afterAll(() => place.close());

  it.each(bugs)("catches the planted bug: $name", { timeout: boundMs }, async (bug) => {
    const rules = (await playScene(place, bug.scene, [bug], seed, "planted")).map(({ rule }) => rule);
    expect(rules).toContain(bug.caughtAs);
  });

  it.each([...Map.groupBy(bugs, ({ scene }) => scene)])(
    "finds nothing without a bug in a world that is %s",
    { timeout: boundMs },
    async (scene, lived) => {
      expect(await playScene(place, scene, lived, seed, "clean")).toEqual([]);
    },
  );
}
