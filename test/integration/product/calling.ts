/**
 * Makes the calls of calls.ts: the catalogue's entry for each, the statement, and the session that it needs.
 *
 * Does not own: which calls there are, nor what is asserted.
 */
import type { ClientBase } from "pg";
import type { TestRole } from "../../helpers/database.ts";
import { settingsOf } from "../capacity/gateway.ts";
import type { Queryable } from "../outbox/queries.ts";
import { rowsOf } from "../outbox/queries.ts";
import { fresh, type Call } from "./call.ts";
import { reading, writing } from "./calls.ts";
import { signed, type Installation } from "./installation.ts";

/** Something that a role other than its owner may call, insert into or select from. */
export interface Exposed {
  /** As in a call: a function's name, or `insert` and a view; for a relation that is only read, its name alone. */
  readonly of: string;
  readonly kind: "function" | "insert" | "relation";
  readonly writes: boolean;
  /** Arguments or columns, by name, with their types. */
  readonly types: Readonly<Record<string, string>>;
  /** Arguments without a default. */
  readonly needed: number;
  readonly roles: readonly string[];
}

const exposedQuery = `
with roles(id, name) as (
  select r.oid, r.rolname::text from pg_roles r
   where r.rolname in ('anon', 'authenticated', 'service_role', 'headroom_ingest', 'headroom_executor', 'headroom_control', 'headroom_auditor')
)
select format('%s.%s', n.nspname, p.proname) as of, 'function' as kind, p.provolatile = 'v' as writes, p.pronargs - p.pronargdefaults as needed,
       (select coalesce(jsonb_object_agg(coalesce(p.proargnames[a.n], ''), format_type(a.type, null)), '{}')
          from unnest(p.proargtypes::oid[]) with ordinality a(type, n)) as types,
       (select array_agg(r.name order by r.name) from roles r where has_schema_privilege(r.id, n.oid, 'usage') and has_function_privilege(r.id, p.oid, 'execute')) as roles
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
 where pg_get_userbyid(p.proowner) = 'headroom_owner' and p.prorettype <> 'trigger'::regtype
union all
select k.prefix || format('%s.%s', n.nspname, c.relname), k.kind, k.kind = 'insert', 0,
       (select jsonb_object_agg(a.attname, format_type(a.atttypid, null)) from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
       (select array_agg(r.name order by r.name) from roles r where has_schema_privilege(r.id, n.oid, 'usage') and has_table_privilege(r.id, c.oid, k.privilege))
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 cross join (values ('insert ', 'insert', 'insert'), ('', 'relation', 'select')) k(prefix, kind, privilege)
 where pg_get_userbyid(c.relowner) = 'headroom_owner' and c.relkind in ('r', 'p', 'v') and not c.relispartition`;

/** Everything exposed, according to the catalogue. */
export async function exposed(client: Queryable): Promise<ReadonlyMap<string, Exposed>> {
  const all = await rowsOf<Exposed>(
    client,
    `select * from (${exposedQuery}) x where x.roles is not null order by x.of`,
  );
  return new Map(all.map((each) => [each.of, each]));
}

/** The calls of everything exposed; a read without required arguments is called with none. Throws for what has no call. */
export function callsOf(
  installation: Installation,
  catalogue: ReadonlyMap<string, Exposed>,
): { readonly writing: readonly Call[]; readonly reading: readonly Call[] } {
  const calls = { writing: writing(installation), reading: reading(installation) };
  const known = new Set([...calls.writing, ...calls.reading].map(({ of }) => of));
  const free: Call[] = [];
  const missing: string[] = [];
  for (const { of, kind, writes, needed } of catalogue.values()) {
    if (kind === "relation" || known.has(of)) continue;
    if (needed === 0 && !writes) free.push({ of, args: {} });
    else missing.push(of);
  }
  const unknown = [...known].filter((of) => !catalogue.has(of));
  if (missing.length + unknown.length > 0)
    throw new Error(
      `calls.ts has no call of ${missing.join(", ") || "nothing"}, and calls what is not exposed: ${unknown.join(", ") || "nothing"}.`,
    );
  return { writing: calls.writing, reading: [...calls.reading, ...free] };
}

/** The login that the call's session begins with. */
export const loginOf = (call: Call): TestRole =>
  call.session !== undefined || call.of.startsWith("public.handle_") ? "authenticator" : "postgres";

/** JSON that is already text is sent unchanged. */
const encoded = (value: unknown, type: string): unknown =>
  value === null || typeof value === "string" || !(type === "jsonb" || type.startsWith("outbox.row_outcome"))
    ? value
    : JSON.stringify(value);

const placed = (type: string, place: number): string =>
  type.startsWith("outbox.row_outcome")
    ? `array(select o from jsonb_populate_recordset(null::outbox.row_outcome, $${place}::jsonb) o)`
    : `$${place}::${type}`;

/** The statement of a call, and its values. */
export function statementOf(
  call: Call,
  { kind, types }: Exposed,
  made = "0",
): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = [];
  const renewed = (value: unknown): unknown => (typeof value === "string" ? value.replaceAll(fresh, made) : value);
  const put = (name: string, value: unknown): string => {
    const type = types[name];
    if (type === undefined) throw new Error(`${call.of} has no ${name}.`);
    return placed(type, values.push(renewed(encoded(value, type))));
  };
  if (kind === "insert") {
    const columns = Object.keys(call.args);
    const rows = [call.args, ...(call.rows ?? [])].map(
      (row) => `(${columns.map((name) => put(name, row[name])).join(", ")})`,
    );
    return {
      text: `${call.of.replace("insert", "insert into")} (${columns.join(", ")}) values ${rows.join(", ")} returning id`,
      values,
    };
  }
  if (kind === "relation") return { text: `select * from ${call.of}`, values };
  const given = Object.entries(call.args).map(
    ([name, value]) => `${name === "" ? "" : `${name} => `}${put(name, value)}`,
  );
  return { text: `select * from ${call.of}(${given.join(", ")})`, values };
}

/** Begins a transaction of the call's session, in one round trip with other settings. */
export async function beginAs(
  client: ClientBase,
  call: Call,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const settings: Record<string, string> = { ...more, ...(call.session === undefined ? {} : settingsOf(call.session)) };
  const sign = signed[call.of.replace("public.", "")];
  const body = call.args[""];
  if (sign !== undefined) {
    settings["role"] = "anon";
    settings["request.headers"] = JSON.stringify(sign(typeof body === "string" ? body : ""));
  }
  const set = Object.entries(settings).map(
    ([name, value]) => `; select set_config('${name}', ${client.escapeLiteral(value)}, true)`,
  );
  await client.query(`begin${set.join("")}`);
}
