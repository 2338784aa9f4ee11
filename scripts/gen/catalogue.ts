/**
 * Reads the migrated database's catalogue into plain data. The types are generated from it.
 *
 * It covers everything that headroom_owner owns: its schemas, and its functions and views in public.
 */
import type { Client } from "pg";

export interface ColumnInfo {
  readonly name: string;
  readonly type: TypeRef;
  readonly notNull: boolean;
}

/** A type as the catalogue names it. `kind`: b base, e enum, c composite, d domain (resolved away), r range, p pseudo. */
export interface TypeRef {
  readonly schema: string;
  readonly name: string;
  readonly kind: string;
  readonly isArray: boolean;
}

export interface EnumInfo {
  readonly schema: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly comment: string | null;
}

export interface RelationInfo {
  readonly schema: string;
  readonly name: string;
  readonly kind: "table" | "view" | "composite";
  readonly comment: string | null;
  readonly columns: readonly ColumnInfo[];
}

export interface ArgumentInfo {
  /** Empty when the parameter has no name. */
  readonly name: string;
  readonly type: TypeRef;
  readonly hasDefault: boolean;
}

export interface FunctionInfo {
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  /** Whether a role other than its owner may call it. */
  readonly granted: boolean;
  readonly args: readonly ArgumentInfo[];
  readonly returnsSet: boolean;
  readonly returnType: TypeRef;
  /** Columns of `returns table (…)` and of out parameters. */
  readonly resultColumns: readonly { readonly name: string; readonly type: TypeRef }[];
}

export interface Catalogue {
  readonly enums: readonly EnumInfo[];
  readonly relations: readonly RelationInfo[];
  readonly functions: readonly FunctionInfo[];
}

/** A type by its oid as JSON, with arrays and domains resolved to their base types. */
function typeJson(oid: string): string {
  return `(select json_build_object('schema', n.nspname, 'name', e.typname, 'kind', e.typtype,
              'isArray', b.typcategory = 'A' and b.typelem <> 0)
            from pg_type t
            join pg_type b on b.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
            join pg_type e on e.oid = case when b.typcategory = 'A' and b.typelem <> 0 then b.typelem else b.oid end
            join pg_namespace n on n.oid = e.typnamespace
           where t.oid = ${oid})`;
}

const ours = "'headroom_owner'::regrole";

const enumsQuery = `
select n.nspname as schema, t.typname as name, obj_description(t.oid, 'pg_type') as comment,
       array(select e.enumlabel::text from pg_enum e where e.enumtypid = t.oid order by e.enumsortorder) as labels
  from pg_type t join pg_namespace n on n.oid = t.typnamespace
 where t.typtype = 'e' and t.typowner = ${ours}
 order by 1, 2`;

const relationsQuery = `
select n.nspname as schema, c.relname as name,
       case when c.relkind = 'c' then obj_description(c.reltype, 'pg_type') else obj_description(c.oid, 'pg_class') end as comment,
       case when c.relkind in ('v', 'm') then 'view' when c.relkind = 'c' then 'composite' else 'table' end as kind,
       (select coalesce(json_agg(json_build_object('name', a.attname, 'notNull', a.attnotnull, 'type',
                 ${typeJson("a.atttypid")}) order by a.attnum), '[]')
          from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind in ('r', 'p', 'v', 'm', 'c') and not c.relispartition and c.relowner = ${ours}
   and not exists (select from pg_inherits i where i.inhrelid = c.oid)
 order by 1, 2`;

const functionsQuery = `
select n.nspname as schema, p.proname as name, obj_description(p.oid, 'pg_proc') as comment,
       exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                where a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner) as granted,
       p.proretset as "returnsSet", ${typeJson("p.prorettype")} as "returnType",
       (select coalesce(json_agg(json_build_object('name', coalesce(a.name, ''), 'type', ${typeJson("a.type")},
                 'hasDefault', a.nth > p.pronargs - p.pronargdefaults) order by a.nth), '[]')
          from (select x.type, p.proargnames[x.ord] as name, row_number() over (order by x.ord) as nth
                  from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as x(type, ord)
                 where coalesce(p.proargmodes[x.ord], 'i') in ('i', 'b', 'v')) a) as args,
       (select coalesce(json_agg(json_build_object('name', coalesce(p.proargnames[x.ord], ''), 'type',
                 ${typeJson("x.type")}) order by x.ord), '[]')
          from unnest(p.proallargtypes) with ordinality as x(type, ord)
         where p.proargmodes[x.ord] in ('o', 'b', 't')) as "resultColumns"
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
 where p.proowner = ${ours} and p.prokind = 'f'
   and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
 order by 1, 2`;

export async function readCatalogue(client: Client): Promise<Catalogue> {
  const enums = await client.query<EnumInfo>(enumsQuery);
  const relations = await client.query<RelationInfo>(relationsQuery);
  const functions = await client.query<FunctionInfo>(functionsQuery);
  return { enums: enums.rows, relations: relations.rows, functions: functions.rows };
}
