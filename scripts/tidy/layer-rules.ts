/**
 * SQL keeps to its layers (src/db/layers.ts): a file names only objects of its own schema or lower ones, and only `outbox` names
 * its tables. The enum types of the exposed API are in `public` and may be named anywhere.
 */
import { layerOf, schemaLayers } from "../../src/db/layers.ts";
import type { Complaint, Repository, RepositoryFile } from "./repository.ts";

/** `schema.name`, but not a type of event, which has a further part (`capacity.request.request_submitted`). */
const reference = new RegExp(
  `(?<![\\w./-])(${schemaLayers.map(({ schema }) => schema).join("|")})\\.([a-z_][a-z0-9_]*)(?!\\w|\\.[a-z])`,
  "g",
);

export function layerRules(repository: Repository): Complaint[] {
  const migrations = repository.matching(/^sql\/migrations\/.*\.sql$/);
  const tables = named(migrations, /^\s*create table (outbox\.[a-z_]+)/gm);
  const enums = named(migrations, /^\s*create type (public\.[a-z_]+) as enum/gm);
  return repository
    .matching(/^sql\/(migrations|functions|views|registrations|triggers|policies|grants)\/.*\.sql$/)
    .flatMap((file) => {
      const own = /^sql\/[a-z]+\/(?:\d+_)?([a-z]+)/.exec(file.path)?.[1] ?? "";
      const layer = layerOf(own);
      if (layer === undefined) return [{ path: file.path, text: `"${own}" is not a schema of src/db/layers.ts` }];
      return referencesOf(file).flatMap(({ schema, name, line }): Complaint[] => {
        const qualified = `${schema}.${name}`;
        if ((layerOf(schema) ?? 0) > layer && !enums.has(qualified))
          return [
            { path: file.path, line, text: `${own} may not name ${qualified}, which is above it: declare a hook` },
          ];
        if (own !== "outbox" && tables.has(qualified))
          return [
            { path: file.path, line, text: `${qualified} is a table of the engine: use its views and functions` },
          ];
        return [];
      });
    });
}

function named(files: readonly RepositoryFile[], pattern: RegExp): ReadonlySet<string> {
  return new Set(files.flatMap((file) => [...file.text.matchAll(pattern)].map((match) => match[1] ?? "")));
}

/** The names in the file, except in comments, which may refer to anything. Registrations name their hooks in strings. */
function referencesOf(
  file: RepositoryFile,
): { readonly schema: string; readonly name: string; readonly line: number }[] {
  return file.lines.flatMap((text, index) =>
    /^\s*--/.test(text)
      ? []
      : [...text.matchAll(reference)].map((match) => ({
          schema: match[1] ?? "",
          name: match[2] ?? "",
          line: index + 1,
        })),
  );
}
