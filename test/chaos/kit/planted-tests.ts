/**
 * The tests of planted bugs: all still fit the code, and `npm test` catches a few. The hash of the tree chooses them, so each
 * change tries others, and the same tree always tries the same.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { secondTier } from "../../helpers/clusters.ts";
import { ownCodeDir, requireFitting } from "./patch.ts";
import { runPlanted, type CodeBug, type PlantedSuite } from "./planted.ts";
import { Random } from "./random.ts";
import { renderPlanted } from "./report.ts";

/** Call it while tests are being collected. */
export function testPlanted<Bug extends CodeBug>(suite: PlantedSuite<Bug>, seed: number): void {
  it("a planted bug is caught, and the unchanged code passes the same scene", { timeout: 240_000 }, async () => {
    const { name } = new Random(await hashOfTree()).pick(suite.bugs);
    console.log(`planted, as the hash of the tree says: ${name}`);
    const result = await runPlanted(suite, { seed, only: name, signal: new AbortController().signal });
    expect(
      result.outcomes.map(({ bug, ok }) => ({ bug, ok })),
      renderPlanted(result),
    ).toEqual([
      { bug: null, ok: true },
      { bug: name, ok: true },
    ]);
  });

  it("every planted bug still fits the code", async () => {
    await expect(requireFitting(suite.bugs.flatMap(({ patches }) => patches))).resolves.toBeUndefined();
  });
}

/** The bugs that this tier plants: `npm test` three that the hash of the tree chooses, and `npm run test:older` all the others. */
export async function bugsOfTier<Bug extends { readonly name: string }>(bugs: readonly Bug[]): Promise<readonly Bug[]> {
  const start = new Random(await hashOfTree()).between(0, bugs.length - 1);
  const turned = [...bugs.slice(start), ...bugs.slice(0, start)];
  const planted = secondTier ? turned.slice(fewBugs) : turned.slice(0, fewBugs);
  console.log(`planted: ${planted.map(({ name }) => name).join("; ")}`);
  return planted;
}

const fewBugs = 3;

async function hashOfTree(): Promise<number> {
  const hash = createHash("sha256");
  for (const part of ["src", "sql"]) {
    const entries = await readdir(join(ownCodeDir, part), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    for (const file of files.toSorted()) hash.update(await readFile(file));
  }
  return hash.digest().readUInt32LE();
}
