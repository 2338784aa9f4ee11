/**
 * Hooks are named in strings, which no compiler follows: every point that a function runs is declared by its own layer, every
 * declared point is run, and every registered function exists and is for a point of a lower layer.
 */
import { layerOf } from "../../src/db/layers.ts";
import type { Complaint, Repository, RepositoryFile } from "./repository.ts";

interface Named {
  readonly path: string;
  readonly line: number;
  readonly name: string;
}

export function hookRules(repository: Repository): Complaint[] {
  const functions = repository.matching(/^sql\/functions\/.*\.sql$/);
  const registrations = repository.matching(/^sql\/registrations\/.*\.sql$/);
  const run = functions.flatMap((file) => namesIn(file, /run_hooks\(\s*'([a-z_.]+)'/g));
  const declared = registrations.flatMap((file) => namesIn(file, /^\s*"([a-z]+\.[a-z_]+)": "[A-Z]/gm));
  const registered = registrations.flatMap((file) => namesIn(file, /^\s*"([a-z]+\.[a-z_]+)": "[a-z]+\.[a-z_]+",?$/gm));
  const called = registrations.flatMap((file) => namesIn(file, /": "([a-z]+\.[a-z_]+)"/g));
  const made = new Set(
    functions.map((file) => file.path.replace(/^sql\/functions\/([a-z]+)\/.*?([a-z_0-9]+)\.sql$/, "$1.$2")),
  );
  return [
    ...run.filter(({ name }) => !has(declared, name)).map((one) => complain(one, "is run and declared by no layer")),
    ...declared.filter(({ name }) => !has(run, name)).map((one) => complain(one, "is declared but never run")),
    ...registered.filter(({ name }) => !has(declared, name)).map((one) => complain(one, "is not a point of any layer")),
    ...registered
      .filter((one) => !isBelow(one))
      .map((one) => complain(one, "is a point of this layer or one above it")),
    ...called.filter(({ name }) => !made.has(name)).map((one) => complain(one, "is not a function of ours")),
  ];
}

function has(list: readonly Named[], name: string): boolean {
  return list.some((one) => one.name === name);
}

function complain({ path, line, name }: Named, text: string): Complaint {
  return { path, line, text: `${name} ${text}` };
}

function isBelow({ path, name }: Named): boolean {
  const own = /registrations\/([a-z]+)/.exec(path)?.[1] ?? "";
  return (layerOf(name.split(".")[0] ?? "") ?? 0) < (layerOf(own) ?? 0);
}

function namesIn(file: RepositoryFile, pattern: RegExp): Named[] {
  return [...file.text.matchAll(pattern)].map((match) => ({
    path: file.path,
    line: file.text.slice(0, match.index).split("\n").length,
    name: match[1] ?? "",
  }));
}
