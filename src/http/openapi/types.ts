/**
 * Types of the database as JSON Schema, as far as JSON distinguishes them.
 */
export type JsonSchema = { readonly [key: string]: unknown };

const byName: Readonly<Record<string, JsonSchema>> = {
  smallint: { type: "integer" },
  integer: { type: "integer" },
  bigint: { type: "integer" },
  numeric: { type: "number" },
  real: { type: "number" },
  "double precision": { type: "number" },
  boolean: { type: "boolean" },
  uuid: { type: "string", format: "uuid" },
  date: { type: "string", format: "date" },
  "timestamp with time zone": { type: "string", format: "date-time" },
  bytea: { type: "string", description: "As Postgres writes bytes: \\x and hexadecimal digits." },
  // Anything at all.
  json: {},
  jsonb: {},
  record: { type: "object" },
};

export function schemaOf(shownType: string, values: readonly string[] | null, nullable = false): JsonSchema {
  if (shownType.endsWith("[]")) {
    return nullOr({ type: "array", items: schemaOf(shownType.slice(0, -2), values) }, nullable);
  }
  const bare = shownType.replace(/\(.*\)$/, "");
  const known = values === null ? (byName[bare] ?? { type: "string" }) : { type: "string", enum: values };
  return nullOr(known, nullable);
}

function nullOr(schema: JsonSchema, nullable: boolean): JsonSchema {
  if (!nullable || schema["type"] === undefined) return schema;
  const { enum: values } = schema;
  return {
    ...schema,
    type: [schema["type"], "null"],
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}
