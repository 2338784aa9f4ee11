/**
 * What `npm test` runs of the chaos. The hash of the tree chooses it, so each change tries other parts, and the same tree always tries
 * the same. `npm run test:older` runs the others: together they run everything, and each part once.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { secondTier } from "../../helpers/clusters.ts";
import { ownCodeDir } from "./patch.ts";
import { Random } from "./random.ts";

/**
 * `few` of the parts for `npm test`, and the others for `npm run test:older`. The few are spread over the sorted names, so they are of
 * different kinds if the names of one kind begin with the same words. Prints the names of this tier's parts.
 */
export async function ofTier<Part extends { readonly name: string }>(
  parts: readonly Part[],
  few: number,
): Promise<readonly Part[]> {
  const byName = parts.toSorted((one, other) => one.name.localeCompare(other.name));
  const ours = splitParts(byName, few, await chosenOf(parts.length))[secondTier ? "second" : "first"];
  if (ours.length > 0) console.log(`in this tier: ${ours.map(({ name }) => name).join("; ")}`);
  return ours;
}

/** The first tier gets `few`, at equal distances from each other. */
export function splitParts<Part>(
  parts: readonly Part[],
  few: number,
  start: number,
): Record<"first" | "second", Part[]> {
  const distance = parts.length / Math.max(1, few);
  const chosen = new Set(Array.from({ length: few }, (_, at) => (start + Math.floor(at * distance)) % parts.length));
  return {
    first: parts.filter((_, at) => chosen.has(at)),
    second: parts.filter((_, at) => !chosen.has(at)),
  };
}

const subjects = ["engine", "provisioning", "payments", "lives", "notifications"] as const;
export type SubjectName = (typeof subjects)[number];

/** How much of a subject `npm test` takes: it runs one subject, and plants one bug for the next one's run to find. */
export async function fewOf(subject: SubjectName): Promise<{ readonly runs: 0 | 1; readonly bugs: 0 | 1 }> {
  const chosen = await chosenOf(subjects.length);
  const isChosen = (after: number): 0 | 1 => (subjects[(chosen + after) % subjects.length] === subject ? 1 : 0);
  return { runs: isChosen(0), bugs: isChosen(1) };
}

export interface TierTest {
  readonly name: string;
  readonly play: () => Promise<void>;
}

/** Tests of which each tier runs a part: add them, and then pass `tests` to `ofTier`. */
export function collectTests(): {
  readonly tests: readonly TierTest[];
  add(name: string, play: () => Promise<void>): void;
} {
  const tests: TierTest[] = [];
  return { tests, add: (name, play) => void tests.push({ name, play }) };
}

/** A number below `count` that the hash of the tree chooses. */
export async function chosenOf(count: number): Promise<number> {
  hash ??= hashOfTree();
  // With the count, or the same hash would always choose the same combination of lists' parts.
  return new Random((await hash) + count).between(0, count - 1);
}

let hash: Promise<number> | undefined;

async function hashOfTree(): Promise<number> {
  const sum = createHash("sha256");
  for (const part of ["src", "sql"]) {
    const entries = await readdir(join(ownCodeDir, part), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    for (const file of files.toSorted()) sum.update(await readFile(file));
  }
  return sum.digest().readUInt32LE();
}
