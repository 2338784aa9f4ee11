/**
 * Caches what the database exposes, and reads it again when a caller asks for a name that is not in it.
 *
 * Owns: the copy and its age. Does not own: the queries (src/db/exposed.ts).
 */
import { readExposedSchema, type ExposedFunction, type ExposedRelation, type ExposedSchema } from "../../db/exposed.ts";
import type { GatewayDatabase } from "../database/gateway-database.ts";

/** Callers must not be able to make the database read its catalogue all the time by asking for unknown names. */
const readAgainAfterMs = 2_000;

export interface Catalogue {
  readonly schema: string;
  /** The functions of a name; empty if there are none. */
  functions(name: string): Promise<readonly ExposedFunction[]>;
  relation(name: string): Promise<ExposedRelation | undefined>;
  /** The whole catalogue, as it is now. */
  all(): Promise<ExposedSchema>;
  /** Reads the catalogue again unless that was just done; true if it did. */
  refresh(): Promise<boolean>;
}

interface Snapshot {
  readonly all: ExposedSchema;
  readonly functions: ReadonlyMap<string, readonly ExposedFunction[]>;
  readonly relations: ReadonlyMap<string, ExposedRelation>;
}

export function createCatalogue(database: GatewayDatabase, schema = "public"): Catalogue {
  let current: Promise<Snapshot> | undefined;
  let readAt = -Infinity;

  const read = (): Promise<Snapshot> => {
    readAt = performance.now();
    const reading = readSnapshot(database, schema);
    current = reading;
    reading.catch(() => {
      if (current === reading) current = undefined;
    });
    return reading;
  };
  const snapshot = (): Promise<Snapshot> => current ?? read();
  const refresh = async (): Promise<boolean> => {
    if (performance.now() - readAt < readAgainAfterMs) return false;
    await read();
    return true;
  };

  return {
    schema,
    async functions(name) {
      const known = (await snapshot()).functions.get(name);
      if (known !== undefined || !(await refresh())) return known ?? [];
      return (await snapshot()).functions.get(name) ?? [];
    },
    async relation(name) {
      const known = (await snapshot()).relations.get(name);
      if (known !== undefined || !(await refresh())) return known;
      return (await snapshot()).relations.get(name);
    },
    all: async () => (await snapshot()).all,
    refresh,
  };
}

async function readSnapshot(database: GatewayDatabase, schema: string): Promise<Snapshot> {
  const all = await readExposedSchema({ query: (query) => database.ask(query) }, schema);
  const functions = new Map<string, ExposedFunction[]>();
  for (const found of all.functions) {
    const sameName = functions.get(found.name);
    if (sameName === undefined) functions.set(found.name, [found]);
    else sameName.push(found);
  }
  return { all, functions, relations: new Map(all.relations.map((relation) => [relation.name, relation])) };
}
