/**
 * Refuses a database in which somebody else owns a schema of one of our names, before anything is changed. Names such as `outbox` and
 * `directory` are common, and we must not revoke rights or make tables in a schema that is not ours.
 */
import type { ClientBase } from "pg";
import { HeadroomError } from "../errors.ts";
import { ownerRole } from "./history.ts";

/** `schemas`: the ones that will be installed; other names do not matter. */
export async function refuseForeignSchemas(client: ClientBase, schemas: readonly string[]): Promise<void> {
  const found = await client.query<{ schema: string; owner: string }>(
    `select n.nspname::text as schema, pg_get_userbyid(n.nspowner)::text as owner
       from pg_namespace n
      where n.nspname = any ($1::text[]) and pg_get_userbyid(n.nspowner) <> $2
      order by array_position($1::text[], n.nspname::text)`,
    [schemas, ownerRole],
  );
  const [first, ...others] = found.rows;
  if (first === undefined) return;
  throw new HeadroomError(
    "schema_taken",
    `This database has a schema ${first.schema} that is not Headroom's: it belongs to ${first.owner}.`,
    {
      detail:
        others.length === 0
          ? undefined
          : `So are ${others.map(({ schema, owner }) => `${schema} (of ${owner})`).join(", ")}.`,
      hint: `Use another database, or give the schema another name: alter schema ${first.schema} rename to <name>. Nothing was changed.`,
    },
  );
}
