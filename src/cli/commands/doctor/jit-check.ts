/**
 * Do people who read our views in their own sessions wait for the server to compile plans? Our functions switch that off themselves, and
 * public.check_request does for requests over HTTP. Otherwise it can only be switched off per login, and logins are not ours to change.
 */
import { escapeIdentifier, type Client } from "pg";
import { ok, warning, type Finding } from "./finding.ts";

/**
 * Logins whose new sessions here have jit = on. The setting of a login in this database takes precedence over the login's, that over the
 * database's, and that over the server's. Superusers are left out: they may read everything, but do not exist to read views.
 */
const loginsText = `select r.rolname::text as login, current_database()::text as database
    from pg_roles r
    left join lateral (
         select split_part(s.item, '=', 2) as value
           from pg_db_role_setting d join pg_database b on b.datname = current_database() cross join unnest(d.setconfig) s(item)
          where d.setrole in (r.oid, 0) and d.setdatabase in (b.oid, 0) and s.item like 'jit=%'
          order by d.setrole desc, d.setdatabase desc limit 1) own on true
   cross join (select case when source in ('default', 'configuration file', 'command line') then setting else boot_val end as value
                 from pg_settings where name = 'jit') server
   where r.rolcanlogin and not r.rolsuper and coalesce(own.value, server.value)::boolean and pg_jit_available()
     and (pg_has_role(r.oid, 'headroom_control', 'USAGE') or pg_has_role(r.oid, 'headroom_auditor', 'USAGE'))
   order by 1`;

export async function checkJit(client: Client): Promise<Finding> {
  const { rows } = await client.query<{ login: string; database: string }>(loginsText);
  if (rows.length === 0) return ok("jit", "The server compiles plans for no login that reads views.");
  const changes = rows.map(
    ({ login, database }) =>
      `alter role ${escapeIdentifier(login)} in database ${escapeIdentifier(database)} set jit = off`,
  );
  return warning(
    "jit",
    `The server compiles plans (jit = on) for ${rows.map(({ login }) => login).join(", ")}, which takes longer than reading Headroom's views does.`,
    `Run: ${changes.join("; ")}; it applies from the next connection on.`,
  );
}
