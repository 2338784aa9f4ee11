/**
 * The layers of the product, lowest first: one table for the schemas of the database and the folders of src.
 *
 * A schema names only what stands in its own layer or below it. Where a lower layer has to cause something above, it declares a
 * hook and the upper one registers (sql/registrations/). The migrator applies files in this order and installs the engine without
 * the rest, `npm run tidy` holds SQL and imports to it, and `npm run gen` prints it into docs/architecture.md.
 */

/** The engine installs alone, into any database; the product needs the engine. */
export type Part = "engine" | "product";

export interface SchemaLayer {
  readonly schema: string;
  readonly part: Part;
  /** What it holds, as the documentation says it. */
  readonly holds: string;
}

export const schemaLayers = [
  {
    schema: "headroom",
    part: "engine",
    holds: "what all share: refusals, secrets, checks, the session's claims, hooks, and the migrator's history",
  },
  { schema: "outbox", part: "engine", holds: "the delivery engine: streams, lanes, rows, the archive of attempts" },
  {
    schema: "webhooks",
    part: "engine",
    holds: "endpoints, the events that applications publish to them, alerts on dead letters",
  },
  { schema: "payments", part: "engine", holds: "the payment outbox: named views and functions over the engine" },
  { schema: "ledger", part: "engine", holds: "the ledger's events: a named view over the engine" },
  { schema: "directory", part: "product", holds: "workspaces, members, groups, identities, API keys, and who calls" },
  { schema: "capacity", part: "product", holds: "requests, their events, policies, confirmation links, timers" },
  {
    schema: "inbound",
    part: "product",
    holds: "what providers send us, and what Slack commands, buttons and forms mean",
  },
  { schema: "public", part: "product", holds: "the API: functions and views that are exposed over HTTP" },
] as const satisfies readonly SchemaLayer[];

/** Position in the order of layers; undefined for a schema that is not ours. */
export function layerOf(schema: string): number | undefined {
  const found = schemaLayers.findIndex((layer) => layer.schema === schema);
  return found === -1 ? undefined : found;
}

/** The part that a schema belongs to. One that is in no layer comes with the product, which may hold anything. */
export function partOf(schema: string): Part {
  return schemaLayers.find((layer) => layer.schema === schema)?.part ?? "product";
}

/** The schemas of these parts, lowest first. `public` is not ours: we only add to it. */
export function schemasOf(parts: readonly Part[]): readonly string[] {
  return schemaLayers
    .filter((layer) => parts.includes(layer.part) && layer.schema !== "public")
    .map((layer) => layer.schema);
}
