/**
 * The layers of the product, lowest first: one table for the schemas of the database and the folders of src.
 *
 * A layer names only itself and the layers before it. When a lower layer has to cause something above it, it declares a hook and the
 * upper one registers for it (sql/registrations/). The migrator applies files in this order and can install the engine without the rest,
 * `npm run tidy` checks SQL and imports against it, and `npm run gen` prints it into docs/architecture.md.
 */

/** The engine installs alone, into any database; the product needs the engine. */
export type Part = "engine" | "product";

export interface Layer {
  /** The schema in the database, where the layer has one. */
  readonly schema?: string;
  /** The folder in src, where the layer has one. */
  readonly folder?: string;
  readonly part: Part;
  /** What it holds, in the words of the documentation. */
  readonly holds: string;
  /** The folders that it may import, if not all that come before it. */
  readonly imports?: readonly string[];
}

export const layers: readonly Layer[] = [
  {
    schema: "headroom",
    folder: "db",
    part: "engine",
    holds:
      "what all share: refusals, secrets, checks, the session's claims, hooks, the migrator and its history; in src also connections and `call()`",
  },
  { folder: "contract", part: "engine", holds: "what a rail is, and the suite that each must pass" },
  {
    schema: "outbox",
    folder: "outbox",
    part: "engine",
    holds: "the delivery engine: streams, lanes, rows, the archive of attempts; in src the relay and the library",
  },
  {
    schema: "webhooks",
    folder: "webhooks",
    part: "engine",
    holds: "endpoints, the events that applications publish to them, alerts on dead letters",
  },
  { schema: "payments", part: "engine", holds: "the payment outbox: named views and functions over the engine" },
  { schema: "ledger", part: "engine", holds: "the ledger's events: a named view over the engine" },
  {
    folder: "rails",
    part: "engine",
    holds: "the ways of reaching the outside, one folder each; none imports another",
  },
  {
    schema: "directory",
    folder: "directory",
    part: "product",
    holds: "workspaces, members, groups, identities, API keys, and who calls",
    imports: ["db"],
  },
  {
    schema: "notify",
    folder: "notify",
    part: "product",
    holds: "what people are told, by which channel, when they want to hear it, and what became of it",
    imports: ["db", "contract", "outbox", "webhooks", "directory"],
  },
  {
    schema: "capacity",
    folder: "capacity",
    part: "product",
    holds: "requests, their events, policies, confirmation links, timers",
    imports: ["db", "contract", "outbox", "webhooks", "directory", "notify"],
  },
  {
    schema: "provisioning",
    folder: "provisioning",
    part: "product",
    holds: "jobs: the workflow runs that provide the capacity, their callbacks, retries and cleanups",
    imports: ["db", "contract", "outbox", "webhooks", "directory", "notify", "capacity"],
  },
  {
    schema: "billing",
    folder: "billing",
    part: "product",
    holds: "prices, checkouts, payments, refunds, disputes, and the books over them",
    imports: ["db", "contract", "outbox", "webhooks", "directory", "notify", "capacity", "provisioning"],
  },
  {
    schema: "inbound",
    folder: "inbound",
    part: "product",
    holds: "what providers send us, and what Slack commands, buttons and forms mean",
    imports: ["db", "contract", "outbox", "webhooks", "directory", "notify", "capacity", "provisioning", "billing"],
  },
  { schema: "public", part: "product", holds: "the API: functions and views that are exposed over HTTP" },
  // Runs in browsers: what it imports of these must not need Node. Its test checks that.
  { folder: "client", part: "product", holds: "the client for browsers and servers", imports: ["db", "capacity"] },
  {
    folder: "web",
    part: "product",
    holds: "what opens every port that speaks HTTP: limits, time-outs, names that are answered to",
    imports: ["db"],
  },
  {
    folder: "sandbox",
    part: "product",
    holds: "stand-ins for the providers, with pages and faults",
    imports: ["db", "web"],
  },
  {
    folder: "http",
    part: "product",
    holds: "the server: routes declared with their credential, the REST surface, pages, sessions",
  },
  { folder: "cli", part: "product", holds: "the command line; with deploy/, the only reader of the environment" },
];

export interface SchemaLayer extends Layer {
  readonly schema: string;
}

/** The layers that have a schema, lowest first. */
export const schemaLayers: readonly SchemaLayer[] = layers.flatMap((layer) =>
  layer.schema === undefined ? [] : [{ ...layer, schema: layer.schema }],
);

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
