/**
 * Imports keep to the layers (src/db/layers.ts), and every module is imported.
 */
import { posix } from "node:path";
import { layers } from "../../src/db/layers.ts";
import type { Complaint, Repository, RepositoryFile } from "./repository.ts";

/** What a folder of src may import besides itself: the folders before it in the table of layers, or those that the table lists. */
function allowedFor(folder: string): readonly string[] {
  const place = layers.findIndex((layer) => layer.folder === folder);
  const before = layers.slice(0, place === -1 ? layers.length : place).flatMap((layer) => layer.folder ?? []);
  return layers[place]?.imports ?? before;
}

/** Run as programs, not imported. */
const entryPoints =
  /^src\/(index|outbox\/index|webhooks\/index|client\/index|cli\/main|cli\/commands\/[a-z-]+(\/index)?|contract\/conformance\/suite)\.ts$|cleanup-process\.ts$/;

function partOf(path: string): string {
  return /^src\/([a-z-]+)\//.exec(path)?.[1] ?? "root";
}

/** `src/rails/webhook` for a file of one rail; undefined elsewhere. */
function railOf(path: string): string | undefined {
  return /^src\/rails\/[a-z-]+(?=\/)/.exec(path)?.[0];
}

/** `src/cli/commands/outbox` for a file of that command; undefined elsewhere. */
function commandOf(path: string): string | undefined {
  return /^src\/cli\/commands\/[a-z-]+/.exec(path)?.[0];
}

function importsOf(file: RepositoryFile): { readonly target: string; readonly line: number }[] {
  return file.lines.flatMap((text, index) =>
    [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => ({
      target: posix.normalize(posix.join(posix.dirname(file.path), match[1] ?? "")),
      line: index + 1,
    })),
  );
}

export function importRules(repository: Repository): Complaint[] {
  const complaints: Complaint[] = [];
  const sources = repository.matching(/^src\/.*\.ts$/);
  const imported = new Set<string>();
  for (const file of repository.matching(/\.(ts|tsx|js)$/)) {
    for (const { target } of importsOf(file)) if (target !== file.path) imported.add(target);
    for (const match of file.text.matchAll(/new URL\("(\.[^"]+\.ts)"/g)) {
      imported.add(posix.normalize(posix.join(posix.dirname(file.path), match[1] ?? "")));
    }
  }
  for (const file of sources) {
    const from = partOf(file.path);
    const isTest = file.path.endsWith(".test.ts");
    for (const { target, line } of importsOf(file)) {
      const to = partOf(target);
      if (from !== "root" && !layers.some((layer) => layer.folder === from)) {
        complaints.push({ path: file.path, text: `"${from}" is in no layer of src/db/layers.ts` });
      }
      if (to !== from && !allowedFor(from).includes(to) && !isTest) {
        complaints.push({ path: file.path, line, text: `${from} may not import ${to} (${target})` });
      }
      const [own, other] = [railOf(file.path), railOf(target)];
      if (own !== undefined && other !== undefined && own !== other) {
        complaints.push({ path: file.path, line, text: `a rail may not import another rail (${target})` });
      }
      const command = commandOf(target);
      if (command !== undefined && command !== commandOf(file.path) && !isTest) {
        const text = `code that commands share belongs in src/cli, not in one of them (${target})`;
        complaints.push({ path: file.path, line, text });
      }
    }
    if (!isTest && !entryPoints.test(file.path) && !imported.has(file.path)) {
      complaints.push({ path: file.path, text: "nobody imports this file" });
    }
  }
  return complaints;
}
