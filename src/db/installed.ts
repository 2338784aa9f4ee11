/** Which parts of Headroom a database has. Every login may ask. */
import { z } from "zod";
import type { Queryable } from "./call.ts";
import { schemaLayers, type Part } from "./layers.ts";
import { ownerRole } from "./migrate/history.ts";

const rowsSchema = z.array(z.object({ schema: z.string() }));

/** A schema of one of our names that another role owns does not count. */
export async function readInstalledParts(db: Queryable): Promise<readonly Part[]> {
  const found = await db.query({
    text: "select nspname::text as schema from pg_namespace where pg_get_userbyid(nspowner) = $1",
    values: [ownerRole],
  });
  const schemas = new Set(rowsSchema.parse(found.rows).map((row) => row.schema));
  return (["engine", "product"] as const).filter((part) =>
    schemaLayers.some((layer) => layer.part === part && schemas.has(layer.schema)),
  );
}

export function isEngineAlone(parts: readonly Part[]): boolean {
  return parts.includes("engine") && !parts.includes("product");
}

/** The hint of what only works with the whole of Headroom. */
export const addTheRest = "Add the rest of Headroom: headroom migrate";
