/**
 * Finds the function that a call means: by its name and the names of the arguments that were given.
 *
 * Owns: overload resolution and its refusals. Does not own: whether the caller may execute it (the database decides).
 */
import type { ExposedFunction } from "../../db/exposed.ts";
import { RestError } from "./errors.ts";

export type GivenArguments =
  /** By name, from JSON, a form or the query string. */
  | { readonly kind: "named"; readonly names: readonly string[]; readonly orJson: boolean }
  /** The body as a whole, to the one parameter without a name. */
  | { readonly kind: "whole"; readonly types: readonly string[]; readonly shown: string };

export const wholeBody = {
  json: { kind: "whole", types: ["pg_catalog.json", "pg_catalog.jsonb"], shown: "json/jsonb" },
  text: { kind: "whole", types: ["pg_catalog.text"], shown: "text" },
  bytes: { kind: "whole", types: ["pg_catalog.bytea"], shown: "bytea" },
} as const satisfies Record<string, GivenArguments>;

export interface Resolved {
  readonly found: ExposedFunction;
  /** True when the whole body is the argument. */
  readonly whole: boolean;
}

/** Undefined when nothing matches, so that the caller may read the catalogue again first. */
export function resolveFunction(overloads: readonly ExposedFunction[], given: GivenArguments): Resolved | undefined {
  if (given.kind === "whole") return takesWhole(overloads, given.types);
  const names = new Set(given.names);
  const matching = overloads.filter((candidate) => acceptsNames(candidate, names));
  if (matching.length > 1) throw ambiguous(matching);
  if (matching[0] !== undefined) return { found: matching[0], whole: false };
  return given.orJson ? takesWhole(overloads, wholeBody.json.types) : undefined;
}

function acceptsNames({ parameters }: ExposedFunction, names: ReadonlySet<string>): boolean {
  const known = new Set(parameters.map((parameter) => parameter.name));
  if (known.has(null)) return false;
  for (const name of names) if (!known.has(name)) return false;
  return parameters.every((parameter) => !parameter.required || names.has(parameter.name ?? ""));
}

function takesWhole(overloads: readonly ExposedFunction[], types: readonly string[]): Resolved | undefined {
  const found = overloads.find(
    ({ parameters: [only, ...more] }) =>
      only !== undefined && more.length === 0 && only.name === null && types.includes(only.type),
  );
  return found === undefined ? undefined : { found, whole: true };
}

function ambiguous(candidates: readonly ExposedFunction[]): RestError {
  const shown = candidates.map(({ name, parameters }) => {
    const list = parameters.map((parameter) => `${parameter.name ?? ""} => ${parameter.shownType}`);
    return `public.${name}(${list.join(", ")})`;
  });
  return new RestError(300, "PGRST203", `Could not choose the best candidate function between: ${shown.join(", ")}`, {
    hint: "Try renaming the parameters or the function itself in the database so function overloading can be resolved",
  });
}

export function noSuchFunction(schema: string, name: string, given: GivenArguments): RestError {
  const full = `${schema}.${name}`;
  const [asked, searched] = given.kind === "whole" ? wordsForWhole(given) : wordsForNames(given);
  return new RestError(404, "PGRST202", `Could not find the function ${full}${asked} in the schema cache`, {
    details: `Searched for the function ${full} ${searched}, but no matches were found in the schema cache.`,
  });
}

function wordsForWhole({ shown }: { readonly shown: string }): [asked: string, searched: string] {
  return [" with a single unnamed " + shown + " parameter", `with a single unnamed ${shown} parameter`];
}

const maxShown = 100;

function wordsForNames({ names, orJson }: { names: readonly string[]; orJson: boolean }): [string, string] {
  const shown = names.slice(0, maxShown).toSorted().join(", ").slice(0, 1_000);
  const or = orJson ? " or with a single unnamed json/jsonb parameter" : "";
  if (names.length === 0) return [" without parameters", `without parameters${or}`];
  return [`(${shown})`, `with parameter${names.length === 1 ? "" : "s"} ${shown}${or}`];
}
