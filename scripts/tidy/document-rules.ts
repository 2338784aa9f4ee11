/**
 * Documents: links have a target, and the files and npm scripts that they name exist.
 */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { Complaint, Repository, RepositoryFile } from "./repository.ts";

export function documentRules(repository: Repository): Complaint[] {
  const scripts = new Set(Object.keys(manifest.scripts));
  return repository
    .matching(/\.md$/)
    .flatMap((file) => [...links(repository, file), ...quotedPaths(repository, file), ...npmScripts(file, scripts)]);
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

const rootFolders = /^(?:sql|src|test|docs|scripts|bench|deploy)\//;
/** `claim/claim.sql`, `capacity/effects/`: how a page names a file or a folder below an earlier one. */
const pathEnding = /^[a-z][\w-]*(?:\/[\w.-]+)*(?:\.(?:ts|sql)|\/[\w-]+\/)$/;

/**
 * A path in backticks names a file or a folder, from the root or as the end of a path; patterns and <placeholders> are ignored. The
 * changelog may name files of earlier releases.
 */
function quotedPaths(repository: Repository, file: RepositoryFile): Complaint[] {
  if (file.path === "CHANGELOG.md") return [];
  const exists = (target: string): boolean =>
    rootFolders.test(target)
      ? existsSync(new URL(target, repository.root))
      : repository.files.some(({ path }) => `/${path}`.includes(`/${target}`));
  return file.lines.flatMap((text, index) =>
    [...text.matchAll(/`([^`\s<>*…]+)`/g)]
      .map((match) => match[1] ?? "")
      .filter((target) => (rootFolders.test(target) || pathEnding.test(target)) && !exists(target))
      .map((target) => ({ path: file.path, line: index + 1, text: `there is no ${target}` })),
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
