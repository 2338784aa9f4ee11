/**
 * Verification: asks the database, batch by batch, whether the invariants of the workflow and of its deliveries hold.
 *
 * Owns: the order of the batches and what each passes on. Does not own: any check; these are in SQL. Each batch is one
 * statement with its own snapshot, so a busy system can be verified and nothing is held open between two. Memory does not grow with
 * the number of requests: a batch is forgotten when the next one comes.
 */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";

const findingSchema = z.object({ invariant: z.string(), code: z.string(), subject: z.string(), detail: z.string() });
/** A violated invariant. `invariant` is I1 to I9, `code` is stable, `subject` names the request, event, endpoint, row or lane. */
export type Finding = z.infer<typeof findingSchema>;
export const findingsSchema = z.array(findingSchema);

/** What was checked. */
export interface Counts {
  readonly requests: number;
  readonly events: number;
  readonly effects: number;
  readonly deliveries: number;
  readonly lines: number;
  readonly keys: number;
  readonly lanes: number;
  readonly routes: number;
}

export const noCounts: Counts = {
  requests: 0,
  events: 0,
  effects: 0,
  deliveries: 0,
  lines: 0,
  keys: 0,
  lanes: 0,
  routes: 0,
};

export type Phase = "requests" | "routes" | "deliveries" | "keys" | "order" | "lanes";

/** One batch. */
export interface VerifiedBatch {
  readonly phase: Phase;
  /** What this batch adds. */
  readonly counts: Partial<Counts>;
  /** How much of the phase is done, and roughly how much there is. */
  readonly done: number;
  readonly total: number;
  readonly findings: readonly Finding[];
}

export interface VerifyOptions {
  /** Only this workspace's requests; deliveries are shared by all workspaces and are then left out. */
  readonly workspaceId?: string | undefined;
  /** Default: 2,000. */
  readonly requestsPerBatch?: number | undefined;
  /** Default: 10,000. */
  readonly rowsPerBatch?: number | undefined;
}

const defaults = { requestsPerBatch: 2_000, rowsPerBatch: 10_000 } as const satisfies VerifyOptions;

/** Checks everything. A finding does not stop it. */
export async function* verify(db: Queryable, options: VerifyOptions = {}): AsyncGenerator<VerifiedBatch> {
  const extent = await call(db, "capacity.verify_extent", { p_workspace_id: options.workspaceId });
  yield* verifyRequests(db, options, extent.requests);
  yield* verifyRoutes(db, options);
  if (options.workspaceId !== undefined) return;
  const rows = options.rowsPerBatch ?? defaults.rowsPerBatch;
  yield* verifyDeliveries(db, rows, extent.deliveries);
  yield* verifyKeys(db, rows, extent.keys);
  yield* verifyOrder(db);
  yield* verifyLanes(db, rows, extent.lanes);
}

async function* verifyRequests(db: Queryable, options: VerifyOptions, total: number): AsyncGenerator<VerifiedBatch> {
  let done = 0;
  for (let after: string | null = ""; after !== null;) {
    const batch: Awaited<ReturnType<typeof requestsBatch>> = await requestsBatch(db, after, options);
    const { requests, events, effects } = batch;
    done += requests;
    yield { phase: "requests", counts: { requests, events, effects }, done, total, findings: parse(batch.findings) };
    after = batch.last_id;
  }
}

function requestsBatch(db: Queryable, after: string, options: VerifyOptions) {
  return call(db, "capacity.verify_requests", {
    p_after: after,
    p_limit: options.requestsPerBatch ?? defaults.requestsPerBatch,
    p_workspace_id: options.workspaceId,
  });
}

/** As many as there are endpoints and types of events, so one batch. */
async function* verifyRoutes(db: Queryable, { workspaceId }: VerifyOptions): AsyncGenerator<VerifiedBatch> {
  const { routes, findings } = await call(db, "capacity.verify_routes", { p_workspace_id: workspaceId });
  yield { phase: "routes", counts: { routes }, done: routes, total: routes, findings: parse(findings) };
}

const firstId = "00000000-0000-0000-0000-000000000000";

async function* verifyDeliveries(db: Queryable, limit: number, total: number): AsyncGenerator<VerifiedBatch> {
  let done = 0;
  for (let after: string | null = firstId; after !== null;) {
    const batch: Awaited<ReturnType<typeof deliveriesBatch>> = await deliveriesBatch(db, after, limit);
    const { deliveries, lines } = batch;
    done += deliveries;
    yield { phase: "deliveries", counts: { deliveries, lines }, done, total, findings: parse(batch.findings) };
    after = batch.last_id;
  }
}

function deliveriesBatch(db: Queryable, after: string, limit: number) {
  return call(db, "capacity.verify_deliveries", { p_after: after, p_limit: limit });
}

async function* verifyKeys(db: Queryable, limit: number, total: number): AsyncGenerator<VerifiedBatch> {
  let done = 0;
  for (let instruction: string | null = "", key: string | null = ""; instruction !== null;) {
    const batch: Awaited<ReturnType<typeof keysBatch>> = await keysBatch(db, instruction, key, limit);
    done += batch.keys;
    yield { phase: "keys", counts: { keys: batch.keys }, done, total, findings: parse(batch.findings) };
    [instruction, key] = [batch.last_instruction, batch.last_key];
  }
}

function keysBatch(db: Queryable, instruction: string, key: string | null, limit: number) {
  return call(db, "outbox.verify_keys", {
    p_stream: "capacity",
    p_after_instruction: instruction,
    p_after_key: key,
    p_limit: limit,
  });
}

/** The rows of a key are spread over the whole archive, so a stream is one batch. */
async function* verifyOrder(db: Queryable): AsyncGenerator<VerifiedBatch> {
  const streams = (await call(db, "outbox.list_streams", {})).filter((stream) => stream.ordered);
  for (const [index, { name }] of streams.entries()) {
    const batch = await call(db, "outbox.verify_order", { p_stream: name });
    yield { phase: "order", counts: {}, done: index + 1, total: streams.length, findings: parse(batch.findings) };
  }
}

async function* verifyLanes(db: Queryable, limit: number, total: number): AsyncGenerator<VerifiedBatch> {
  let done = 0;
  for (let after: number | null = 0; after !== null;) {
    const batch: Awaited<ReturnType<typeof lanesBatch>> = await lanesBatch(db, after, limit);
    done += batch.lanes;
    yield { phase: "lanes", counts: { lanes: batch.lanes }, done, total, findings: parse(batch.findings) };
    after = batch.last_id;
  }
}

function lanesBatch(db: Queryable, after: number, limit: number) {
  return call(db, "outbox.verify_lanes", { p_after: after, p_limit: limit });
}

function parse(findings: unknown): Finding[] {
  return findingsSchema.parse(findings);
}

/** The end of a request's chain at some moment. */
export interface Head {
  readonly requestId: string;
  readonly version: number;
  /** Hexadecimal. */
  readonly hash: string;
}

const headsPerPage = 10_000;

/** The heads of all chains, page by page. */
export async function* listHeads(db: Queryable, workspaceId?: string): AsyncGenerator<readonly Head[]> {
  for (let after = ""; ;) {
    const rows: { request_id: string; version: number; hash: string }[] = await call(db, "capacity.list_heads", {
      p_after: after,
      p_limit: headsPerPage,
      p_workspace_id: workspaceId,
    });
    if (rows.length > 0) yield rows.map((row) => ({ requestId: row.request_id, version: row.version, hash: row.hash }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < headsPerPage) return;
    after = last.request_id;
  }
}

/** Which of these heads, kept from an earlier day, are missing from the log. */
export async function verifyHeads(db: Queryable, heads: readonly Head[]): Promise<Finding[]> {
  return call(db, "capacity.verify_heads", {
    p_request_ids: heads.map((head) => head.requestId),
    p_versions: heads.map((head) => head.version),
    p_hashes: heads.map((head) => head.hash),
  });
}
