/**
 * Reads which functions and relations of a schema can be named over HTTP, with all that is needed to call and describe them.
 *
 * Owns: the queries of the catalogue. Does not own: who may use what (grants and row-level security decide at each use),
 * nor how long the answer is kept.
 */
import { z } from "zod";
import { HeadroomError, toHeadroomError } from "./errors.ts";

/** A type, written so that it works in SQL under any search path. */
const typeName = z.string();

const parameter = z.object({
  /** Null for a parameter without a name. */
  name: z.string().nullable(),
  type: typeName,
  /** As people write the type. */
  shownType: z.string(),
  /** The values of an enum, null for any other type. */
  values: z.array(z.string()).nullable(),
  required: z.boolean(),
  variadic: z.boolean(),
});

const column = z.object({
  name: z.string(),
  type: typeName,
  shownType: z.string(),
  values: z.array(z.string()).nullable(),
  nullable: z.boolean(),
  comment: z.string().nullable(),
});

const exposedFunction = z.object({
  name: z.string(),
  parameters: z.array(parameter),
  /** void: nothing. value: a scalar or JSON. row: columns. */
  returns: z.enum(["void", "value", "row"]),
  returnsSet: z.boolean(),
  shownReturnType: z.string(),
  /** The columns of its rows; none where it returns no rows. */
  columns: z.array(z.string()),
  /** The exposed relation whose rows it returns, if it does. */
  returnsRelation: z.string().nullable(),
  volatility: z.enum(["immutable", "stable", "volatile"]),
  comment: z.string().nullable(),
  /** Which of the roles behind HTTP may execute it. */
  allowed: z.array(z.string()),
});

const exposedRelation = z.object({
  name: z.string(),
  columns: z.array(column),
  comment: z.string().nullable(),
  /** Which of the roles behind HTTP may read it; row-level security decides which rows. */
  allowed: z.array(z.string()),
});

const exposedSchema = z.object({ functions: z.array(exposedFunction), relations: z.array(exposedRelation) });

export type ExposedParameter = z.infer<typeof parameter>;
export type ExposedColumn = z.infer<typeof column>;
export type ExposedFunction = z.infer<typeof exposedFunction>;
export type ExposedRelation = z.infer<typeof exposedRelation>;
export type ExposedSchema = z.infer<typeof exposedSchema>;

const enumValues = `(select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)`;
const rolesWith = (right: string): string =>
  `coalesce((select json_agg(o.rolname order by o.rolname) from pg_roles o
     where o.rolname in ('anon', 'authenticated', 'service_role') and ${right}), '[]')`;

/** Functions that only the database itself calls are left out, and so are procedures, aggregates and window functions. */
const functionsText = `
  select coalesce(json_agg(json_build_object(
    'name', p.proname,
    'parameters', coalesce((
      select json_agg(json_build_object(
          'name', nullif(p.proargnames[a.place], ''),
          'type', quote_ident(tn.nspname) || '.' || quote_ident(t.typname),
          'shownType', format_type(t.oid, null),
          'values', ${enumValues},
          'required', a.number <= p.pronargs - p.pronargdefaults,
          'variadic', p.provariadic <> 0 and a.number = p.pronargs
        ) order by a.number)
      from (
        select u.type, u.place, row_number() over (order by u.place) as number
          from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as u(type, place)
         where p.proargmodes is null or p.proargmodes[u.place] in ('i', 'b', 'v')
      ) a
      join pg_type t on t.oid = a.type
      join pg_namespace tn on tn.oid = t.typnamespace), '[]'),
    'returns', case when p.prorettype = 'void'::regtype then 'void'
                    when r.typtype = 'c' or p.proargmodes && array['t', 'b', 'o']::"char"[] then 'row'
                    else 'value' end,
    'returnsSet', p.proretset,
    'columns', coalesce(case when p.proargmodes && array['t', 'b', 'o']::"char"[] then (
        select json_agg(p.proargnames[a.place] order by a.place) from generate_subscripts(p.proargmodes, 1) a(place)
         where p.proargmodes[a.place] in ('t', 'b', 'o'))
      else (select json_agg(a.attname order by a.attnum) from pg_attribute a
             where a.attrelid = r.typrelid and a.attnum > 0 and not a.attisdropped) end, '[]'),
    'shownReturnType', pg_get_function_result(p.oid),
    'returnsRelation', (select c.relname from pg_class c where c.oid = r.typrelid and c.relnamespace = n.oid and c.relkind in ('r', 'v', 'm', 'f', 'p')),
    'volatility', case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
    'comment', obj_description(p.oid, 'pg_proc'),
    'allowed', ${rolesWith("has_function_privilege(o.oid, p.oid, 'execute')")}
  ) order by p.proname, p.oid), '[]') as found
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  join pg_type r on r.oid = p.prorettype
 where n.nspname = $1 and p.prokind = 'f' and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)`;

const relationsText = `
  select coalesce(json_agg(json_build_object(
    'name', c.relname,
    'comment', obj_description(c.oid, 'pg_class'),
    'allowed', ${rolesWith("has_table_privilege(o.oid, c.oid, 'select')")},
    'columns', coalesce((
      select json_agg(json_build_object(
          'name', a.attname,
          'type', quote_ident(tn.nspname) || '.' || quote_ident(t.typname),
          'shownType', format_type(a.atttypid, a.atttypmod),
          'values', ${enumValues},
          'nullable', not a.attnotnull,
          'comment', col_description(c.oid, a.attnum)
        ) order by a.attnum)
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      join pg_namespace tn on tn.oid = t.typnamespace
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '[]')
  ) order by c.relname), '[]') as found
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = $1 and c.relkind in ('r', 'v', 'm', 'f', 'p')`;

/** The part of a connection that is needed; the driver's pools and clients have it. */
export interface CatalogueReader {
  query(query: { text: string; values: string[] }): Promise<{ rows: unknown[] }>;
}

export async function readExposedSchema(db: CatalogueReader, schema: string): Promise<ExposedSchema> {
  try {
    const functions = await db.query({ text: functionsText, values: [schema] });
    const relations = await db.query({ text: relationsText, values: [schema] });
    const parsed = exposedSchema.safeParse({ functions: foundIn(functions.rows), relations: foundIn(relations.rows) });
    if (parsed.success) return parsed.data;
    throw new HeadroomError("database_error", "The catalogue could not be read.", { cause: parsed.error });
  } catch (error) {
    throw toHeadroomError(error);
  }
}

function foundIn(rows: readonly unknown[]): unknown {
  const row = rows[0];
  return typeof row === "object" && row !== null && "found" in row ? row.found : undefined;
}
