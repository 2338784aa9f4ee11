/**
 * Documents: links lead somewhere, npm scripts that are named exist, and the product speaks of itself alone.
 */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { Complaint, Repository, RepositoryFile } from "./repository.ts";

export function documentRules(repository: Repository): Complaint[] {
  const scripts = new Set(Object.keys(manifest.scripts));
  return repository.matching(/\.md$/).flatMap((file) => [...links(repository, file), ...npmScripts(file, scripts)]);
}

function links(repository: Repository, file: RepositoryFile): Complaint[] {
  return file.lines.flatMap((text, index) =>
    [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1] ?? "")
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => !existsSync(new URL(posix.join(posix.dirname(file.path), target), repository.root)))
      .map((target) => ({ path: file.path, line: index + 1, text: `the link to ${target} leads nowhere` })),
  );
}

function npmScripts(file: RepositoryFile, scripts: ReadonlySet<string>): Complaint[] {
  return file.lines.flatMap((text, index) =>
    [...text.matchAll(/npm run ([a-z:]+)/g)]
      .map((match) => match[1] ?? "")
      .filter((name) => !scripts.has(name))
      .map((name) => ({ path: file.path, line: index + 1, text: `there is no npm script "${name}"` })),
  );
}
