/**
 * Writes `sql/schema.sql`: the schema as it is after all migrations, for people to read and to review in a diff.
 *
 * Made from the catalogue, in an order that depends only on names, so that the same schema always gives the same bytes.
 * Bodies of functions stay in their files; here are only their signatures, properties and checksums. Objects that change with
 * the calendar (dated partitions) are shown once, with YYYYMMDD for the date.
 */
import type { Client } from "pg";
import { grantsOf, ours } from "./schema-grants.ts";
import { dumpRelations } from "./schema-relations.ts";

const roles = String.raw`
select concat_ws(E'\n',
         format('create role %I %s;', r.rolname, concat_ws(' ',
           case when r.rolcanlogin then 'login' else 'nologin' end,
           case when r.rolinherit then 'inherit' else 'noinherit' end,
           case when r.rolsuper then 'superuser' end, case when r.rolcreaterole then 'createrole' end,
           case when r.rolcreatedb then 'createdb' end, case when r.rolbypassrls then 'bypassrls' end)),
         (select string_agg(format('grant %I to %I;', g.rolname, r.rolname), E'\n' order by g.rolname)
            from pg_auth_members m join pg_roles g on g.oid = m.roleid where m.member = r.oid)) as text
  from pg_roles r where r.rolname like 'headroom\_%' order by r.rolname`;

const schemas = `
select concat_ws(E'\\n',
         format('create schema %I authorization %I;', n.nspname, r.rolname),
         ${grantsOf("n.nspacl", "n", "n.nspowner", "format('schema %I', n.nspname)")}) as text
  from pg_namespace n join pg_roles r on r.oid = n.nspowner
 where n.nspowner = ${ours} or n.nspname = 'public'
 order by n.nspname`;

/** Types are open to everybody by default, which is not worth a line for each. */
const typeGrants = `case when t.typacl is not null then
           ${grantsOf("t.typacl", "T", "t.typowner", "format('type %s', format_type(t.oid, null))")} end`;

const enums = `
select concat_ws(E'\\n',
         format(E'create type %s as enum (\\n  %s\\n);', format_type(t.oid, null),
           (select string_agg(quote_literal(e.enumlabel), E',\\n  ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)),
         ${typeGrants}) as text
  from pg_type t where t.typtype = 'e' and t.typowner = ${ours}
 order by format_type(t.oid, null)`;

const composites = `
select concat_ws(E'\\n',
         format(E'create type %s as (\\n  %s\\n);', format_type(t.oid, null),
           (select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), E',\\n  ' order by a.attnum)
              from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)),
         ${typeGrants}) as text
  from pg_class c join pg_type t on t.oid = c.reltype
 where c.relkind = 'c' and c.relowner = ${ours}
 order by format_type(t.oid, null)`;

const domains = `
select format('create domain %s as %s%s%s;', format_type(t.oid, null), format_type(t.typbasetype, t.typtypmod),
         case when t.typnotnull then ' not null' else '' end,
         (select string_agg(' ' || pg_get_constraintdef(k.oid), '' order by k.conname) from pg_constraint k where k.contypid = t.oid)) as text
  from pg_type t where t.typtype = 'd' and t.typowner = ${ours}
 order by format_type(t.oid, null)`;

const sequences = `
select concat_ws(E'\\n',
         format('create sequence %s as %s increment %s;', c.oid::regclass, format_type(s.seqtypid, null), s.seqincrement),
         ${grantsOf("c.relacl", "s", "c.relowner", "format('sequence %s', c.oid::regclass)")}) as text
  from pg_class c join pg_sequence s on s.seqrelid = c.oid
 where c.relowner = ${ours}
   and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'i')
 order by c.oid::regclass::text`;

/** Runs with an empty search_path, so every name is written in full. */
const functions = `
select concat_ws(E'\\n',
         format(E'create %s %s(%s)%s\\n  as ''sha256 %s'';',
           case p.prokind when 'p' then 'procedure' when 'a' then 'aggregate' else 'function' end,
           format('%I.%I', n.nspname, p.proname),
           pg_get_function_arguments(p.oid),
           coalesce(E'\\n  returns ' || pg_get_function_result(p.oid), '') ||
           format(E'\\n  language %s %s%s%s%s%s owner %I', l.lanname,
             case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
             case when p.prosecdef then ' security definer' else ' security invoker' end,
             case when p.proisstrict then ' strict' else '' end,
             case p.proparallel when 's' then ' parallel safe' when 'r' then ' parallel restricted' else '' end,
             coalesce(' set ' || array_to_string(p.proconfig, ' set '), ''), r.rolname),
           left(encode(sha256(convert_to(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), 'UTF8')), 'hex'), 16)),
         ${grantsOf("p.proacl", "f", "p.proowner", "format('function %I.%I', n.nspname, p.proname)")}) as text
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  join pg_language l on l.oid = p.prolang join pg_roles r on r.oid = p.proowner
 where p.proowner = ${ours}
 order by n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)`;

/** Templates are data, but part of the release like functions: each has a file. */
const templates = `
select format(E'-- %s (%s), sha256 %s', t.name, t.language, left(encode(sha256(convert_to(t.title || E'\\n\\n' || t.body, 'UTF8')), 'hex'), 16)) as text
  from notify.own_templates t
 order by t.name, t.language`;

const hasTemplates = "select 'yes' as text where to_regclass('notify.own_templates') is not null";

const defaultPrivileges = `
select format('alter default privileges for role %I%s: %s;', r.rolname,
         coalesce(' in schema ' || quote_ident(n.nspname), ''),
         (select string_agg(format('%s on %s to %s', lower(x.privilege_type),
                   case d.defaclobjtype when 'r' then 'tables' when 'f' then 'functions' when 'S' then 'sequences'
                     when 'T' then 'types' when 'n' then 'schemas' else d.defaclobjtype::text end,
                   coalesce(quote_ident(g.rolname), 'public')), ', ' order by x.privilege_type, g.rolname)
            from aclexplode(d.defaclacl) x left join pg_roles g on g.oid = x.grantee)) as text
  from pg_default_acl d join pg_roles r on r.oid = d.defaclrole left join pg_namespace n on n.oid = d.defaclnamespace
 order by r.rolname, n.nspname, d.defaclobjtype`;

const database = `
select format('-- on the database: grant %s to %s', lower(x.privilege_type), coalesce(quote_ident(r.rolname), 'public')) as text
  from pg_database d cross join aclexplode(d.datacl) x left join pg_roles r on r.oid = x.grantee
 where d.datname = current_database() and x.grantee <> d.datdba
 order by 1`;

const header = `-- The schema after all migrations. Generated by \`npm run gen\`; do not edit.
-- Functions are shown by signature and checksum; their bodies are in sql/functions. So are the texts of messages, in sql/templates.`;

/** `inTransaction`: uses the caller's transaction and leaves it open, to see uncommitted changes. */
export async function dumpSchema(client: Client, options: { inTransaction?: boolean } = {}): Promise<string> {
  const [begin, end] = options.inTransaction === true ? ["savepoint dump", "rollback to dump"] : ["begin", "rollback"];
  await client.query(`${begin}; set local search_path = ''`);
  const rows = async (query: string): Promise<string[]> => {
    const result = await client.query<{ text: string | null }>(query);
    return result.rows.map((row) => row.text ?? "");
  };
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ["Roles", await rows(roles)],
    ["Database", await rows(database)],
    ["Schemas", await rows(schemas)],
    ["Types", [...(await rows(enums)), ...(await rows(domains)), ...(await rows(composites))]],
    ["Sequences", await rows(sequences)],
    ["Tables and views", await dumpRelations(client)],
    ["Functions", await rows(functions)],
    // The engine alone has no notifications.
    ["Templates", (await rows(hasTemplates)).length > 0 ? await rows(templates) : []],
    ["Default privileges", await rows(defaultPrivileges)],
  ];
  await client.query(end);
  const parts = sections
    .filter(([, blocks]) => blocks.length > 0)
    .map(([title, blocks]) => `-- ${title}\n\n${blocks.join("\n\n")}`);
  return `${[header, ...parts].join("\n\n")}\n`;
}
