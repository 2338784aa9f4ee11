/**
 * Plants a bug: a copy of the code in a separate folder, with a few words replaced. The working tree is never
 * touched.
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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

export async function copyWithPatches(patches: readonly Patch[]): Promise<CodeCopy> {
  const dir = await mkdtemp(join(tmpdir(), "headroom-planted-"));
  const dispose = (): Promise<void> => rm(dir, { recursive: true, force: true });
  try {
    for (const part of ["src", "sql", "package.json", join("test", "chaos")]) {
      await cp(join(ownCodeDir, part), join(dir, part), { recursive: true });
    }
    await symlink(join(ownCodeDir, "node_modules"), join(dir, "node_modules"));
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
