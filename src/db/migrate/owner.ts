/**
 * Makes sure that the migrating role can act as the owner of our objects, or says what it lacks.
 *
 * From PostgreSQL 16 on, CREATEROLE alone no longer allows using roles that another role created: a second migrating
 * role needs a grant from the first. This is checked before anything runs, because the server's own error comes late
 * and names no remedy.
 */
import type { ClientBase } from "pg";
import { HeadroomError, sqlStateOf } from "../errors.ts";
import { ownerRole } from "./history.ts";

interface RoleFacts {
  readonly exists: boolean;
  readonly usable: boolean;
  readonly may_create: boolean;
  readonly who: string;
}

/** True if the owner exists and can be used; false if the first migration has yet to create it. */
export async function ensureOwnerUsable(client: ClientBase): Promise<boolean> {
  const facts = await readFacts(client);
  if (!facts.exists && !facts.may_create) {
    throw new HeadroomError(
      "not_allowed",
      `Role ${facts.who} may not create roles, which the first migration has to.`,
      {
        hint: `As a superuser run: alter role ${quoted(client, facts.who)} createrole`,
      },
    );
  }
  if (!facts.exists || facts.usable) return facts.exists;
  await client.query("savepoint owner_grant");
  try {
    await client.query(`grant ${ownerRole} to ${quoted(client, facts.who)}`);
    await client.query("release savepoint owner_grant");
    return true;
  } catch (cause) {
    if (sqlStateOf(cause) !== "42501") throw cause;
    throw new HeadroomError(
      "not_allowed",
      `Role ${facts.who} may not act as ${ownerRole}, which another role created.`,
      {
        hint:
          `Migrate as the role that migrated first, or let that role (or a superuser) run: ` +
          `grant ${ownerRole} to ${quoted(client, facts.who)} with admin option`,
        sqlState: "HR012",
        cause,
      },
    );
  }
}

async function readFacts(client: ClientBase): Promise<RoleFacts> {
  // The name of a missing role would raise an error, so this asks by oid. 'SET' is a kind of membership from 16 on.
  const result = await client.query<RoleFacts>(
    `select o.oid is not null as exists,
            coalesce(pg_has_role(current_user, o.oid,
              case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end), false) as usable,
            me.rolsuper or me.rolcreaterole as may_create,
            current_user::text as who
       from pg_roles me left join pg_roles o on o.rolname = $1
      where me.rolname = current_user`,
    [ownerRole],
  );
  const facts = result.rows[0];
  if (facts === undefined) throw new HeadroomError("database_error", "The current role is not in the catalogue.");
  return facts;
}

function quoted(client: ClientBase, name: string): string {
  return client.escapeIdentifier(name);
}
