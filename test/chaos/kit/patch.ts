/**
 * Plants a bug: a copy of the code in a separate folder, with a few words replaced. The working tree is never
 * touched.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const ownCodeDir = fileURLToPath(new URL("../../../", import.meta.url));

export interface Patch {
  /** Below the root of the repository. */
  readonly file: string;
  /** Must occur exactly once: a bug that no longer fits must be rewritten, not silently skipped. */
  readonly find: string;
  readonly replace: string;
}

export interface CodeCopy extends AsyncDisposable {
  readonly dir: string;
}

/** Copies what has a patch in it, and links to the rest. By `cp`, which takes a fraction of Node's time for thousands of files. */
export async function copyWithPatches(patches: readonly Patch[]): Promise<CodeCopy> {
  const dir = await mkdtemp(join(tmpdir(), "headroom-planted-"));
  const dispose = (): Promise<void> => rm(dir, { recursive: true, force: true });
  try {
    const isPatched = (part: string): boolean => patches.some(({ file }) => file.startsWith(`${part}/`));
    const parts = ["sql", "src", join("test", "chaos"), "package.json", "node_modules"];
    // Programs below test/chaos import src/ from beside them, so both are copies, or both links.
    const copied = parts.filter((part) => isPatched(part) || (part.startsWith("test") && isPatched("src")));
    await mkdir(join(dir, "test"));
    for (const part of parts)
      if (copied.includes(part)) await promisify(execFile)("cp", ["-R", join(ownCodeDir, part), join(dir, part)]);
      else await symlink(join(ownCodeDir, part), join(dir, part));
    for (const patch of patches) await apply(dir, patch);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { dir, [Symbol.asyncDispose]: dispose };
}

async function apply(dir: string, patch: Patch): Promise<void> {
  const path = join(dir, patch.file);
  await writeFile(path, patched(await readFile(path, "utf8"), patch));
}

/** Throws for the first patch that no longer fits the current code. */
export async function requireFitting(patches: readonly Patch[]): Promise<void> {
  for (const patch of patches) patched(await readFile(join(ownCodeDir, patch.file), "utf8"), patch);
}

export function patched(text: string, { file, find, replace }: Patch): string {
  const parts = text.split(find);
  if (parts.length === 2) return parts.join(replace);
  throw new Error(
    `The patch for ${file} no longer fits: its text occurs ${parts.length - 1} times instead of once.\n${find}`,
  );
}
