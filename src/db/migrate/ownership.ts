/**
 * Which of our objects have the wrong owner, and which rights differ from the grants: after a restore, or after somebody changed them by
 * hand. Owns: finding and repairing both.
 *
 * pg_restore gives an object to its owner before that owner has its rights in the schema. In `public` this fails, and our objects there stay with the role that restored;
 * with --no-owner all of them do. Functions that run with their owner's rights would then run with that role's.
 */
import type { ClientBase } from "pg";
import { HeadroomError, sqlStateOf } from "../errors.ts";
import type { SqlFolder } from "./files.ts";
import { ownerRole } from "./history.ts";

export interface Misowned {
  /** The name in SQL, with the kind in front. */
  readonly what: string;
  readonly owner: string;
  readonly repair: string;
}

/** Not everything in `public` is ours. Our files make or comment on our own objects by name. */
function namesInPublic({ migrations, recreatables }: SqlFolder): string[] {
  const ours = [...migrations, ...recreatables].flatMap(({ text }) => [
    ...text.matchAll(/^(?:comment on (?:function|view)|create type) (public\.\w+(?:\([^)]*\))?)/gm),
  ]);
  return ours.map(([, name = ""]) =>
    name
      .replaceAll(/\s+/g, " ")
      .replaceAll(/(?<=\() | (?=\))/g, "")
      .replaceAll("timestamptz", "timestamp with time zone")
      .replace(/\(.*/, (types) => types.replaceAll("public.", "")),
  );
}

/**
 * A whole schema is included only if the migrator's history belongs to the schema's owner: then it is ours, restored without owners, and
 * not somebody else's with the same name.
 */
const misownedObjects = `
with owner as (select oid from pg_roles where rolname = $1),
restored as (
  select n.oid, n.nspname, n.nspowner
    from pg_namespace n, owner o
   where n.nspname = any ($2::text[]) and n.nspowner <> o.oid
     and exists (select from pg_class c join pg_namespace h on h.oid = c.relnamespace
                  where c.relname = 'recreatables' and h.nspname = 'headroom' and c.relowner = n.nspowner)
),
objects as (
  select 1 as rank, 'schema' as kind, quote_ident(r.nspname) as name, r.oid as schema, r.nspowner as owner from restored r
  union all
  select 2, 'table', format('%I.%I', n.nspname, c.relname), n.oid, c.relowner
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'm', 'S')
     -- The sequence of a column goes with its table.
     and not (c.relkind = 'S' and exists (
       select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')))
  union all
  select 3, 'routine', format('%I.%I(%s)', n.nspname, p.proname, replace(oidvectortypes(p.proargtypes), 'public.', '')), n.oid, p.proowner
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  union all
  select 4, 'type', format('%I.%I', n.nspname, t.typname), n.oid, t.typowner
    from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
   where t.typtype in ('e', 'd') or c.relkind = 'c'
)
select b.kind || ' ' || b.name as what, pg_get_userbyid(b.owner)::text as owner,
       format('alter %s %s owner to %I', b.kind, b.name, $1::text) as repair
  from objects b, owner o
 where b.owner <> o.oid
   and (b.name = any ($3::text[]) or exists (select from restored r where r.oid = b.schema and r.nspowner = b.owner))
 order by b.rank, b.name`;

/** Any login may ask: everybody can read owners in the catalogue. `schemas`: the ones that are installed, or will be. */
export async function findMisowned(
  client: ClientBase,
  folder: SqlFolder,
  schemas: readonly string[],
): Promise<readonly Misowned[]> {
  const found = await client.query<Misowned>(misownedObjects, [ownerRole, schemas, namesInPublic(folder)]);
  return found.rows;
}

/** Needs the rights of the present owners, and membership in our owner. */
export async function takeBack(client: ClientBase, misowned: readonly Misowned[], hasPublic: boolean): Promise<void> {
  const path = await client.query<{ path: string }>("select current_setting('search_path') as path");
  // There, argument types are named without their schema.
  await setPath(client, "public, pg_catalog");
  if (hasPublic) await client.query(`grant usage, create on schema public to ${ownerRole}`);
  for (const { what, owner, repair } of misowned) {
    await client.query(repair).catch((cause: unknown) => {
      if (sqlStateOf(cause) !== "42501") throw cause;
      throw new HeadroomError(
        "not_allowed",
        `The ${what} belongs to ${owner}, and this login may not give it to its owner.`,
        {
          detail: `${misowned.length} objects of Headroom belong to other roles than ${ownerRole}, as a restore leaves them.`,
          hint: `Migrate as ${owner}, which restored the database, or as a superuser. Nothing was changed.`,
          cause,
        },
      );
    });
  }
  await setPath(client, path.rows[0]?.path ?? "");
}

async function setPath(client: ClientBase, path: string): Promise<void> {
  await client.query("select set_config('search_path', $1, true)", [path]);
}

const rights = `
select format('%s may %s%s %s', coalesce(r.rolname, 'public'), lower(a.privilege_type), case when a.is_grantable then ' and grant' else '' end, o.what) as text
  from (
    select 'schema ' || quote_ident(n.nspname) as what, n.nspowner as owner, coalesce(n.nspacl, acldefault('n', n.nspowner)) as acl
      from pg_namespace n where n.nspname = any ($1::text[])
    union all
    select format('%I.%I', n.nspname, c.relname), c.relowner,
           coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'S') and (n.nspname = any ($1::text[]) or n.nspname = 'public' and c.relowner = $2::regrole)
    union all
    select format('%I.%I.%I', n.nspname, c.relname, t.attname), c.relowner, t.attacl
      from pg_attribute t join pg_class c on c.oid = t.attrelid join pg_namespace n on n.oid = c.relnamespace
     where t.attacl is not null and (n.nspname = any ($1::text[]) or n.nspname = 'public' and c.relowner = $2::regrole)
    union all
    select format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)), p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = any ($1::text[]) or n.nspname = 'public' and p.proowner = $2::regrole
  ) o
  cross join aclexplode(o.acl) a left join pg_roles r on r.oid = a.grantee
 where a.grantee <> o.owner`;

/**
 * Applies the grants, and returns in words what they changed. If they changed nothing, they are rolled back, so that no entry of the
 * catalogue is written.
 */
export async function repairRights(
  client: ClientBase,
  schemas: readonly string[],
  applyGrants: () => Promise<void>,
): Promise<readonly string[]> {
  const read = async (): Promise<Set<string>> => {
    const found = await client.query<{ text: string }>(rights, [schemas, ownerRole]);
    return new Set(found.rows.map(({ text }) => text));
  };
  const before = await read();
  await client.query("savepoint rights");
  await applyGrants();
  const after = await read();
  const changed = [
    ...[...after].filter((text) => !before.has(text)).map((text) => `missing: ${text}`),
    ...[...before].filter((text) => !after.has(text)).map((text) => `too much: ${text}`),
  ];
  await client.query(changed.length === 0 ? "rollback to savepoint rights" : "release savepoint rights");
  return changed.toSorted();
}
