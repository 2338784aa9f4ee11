/**
 * The delivery engine alone: a transactional outbox on your Postgres, with strict order per key, an append-only
 * record of every attempt, and your own rails.
 *
 *     import { createRelay, enqueue } from "headroom/outbox";
 *
 *     await enqueue(client, { stream: "orders", key: order.id, instructionId: order.id, idempotencyKey: "created", rail: "shop", payload });
 *     const relay = createRelay({ connectionString, rails: [shop], streams: ["orders"] });
 *     await relay.start();
 */
export { enqueue, enqueueMany, type Bind, type EnqueueResult, type JsonPath, type NewRow } from "./enqueue/enqueue.ts";
export {
  createDrainer,
  type Drainer,
  type DrainerOptions,
  type DrainOptions,
  type DrainReport,
  type TurnStart,
} from "./relay/drain.ts";
export { createRelay, type Relay } from "./relay/relay.ts";
export { relaySteps, type RelayStep } from "./observe/steps.ts";
export type { RelayLogEntry } from "./observe/log.ts";
export type { RelayOptions } from "./relay/options.ts";
export { changeStream, createStream, type StreamChanges, type StreamSettings } from "./operate/create-stream.ts";
export { registerRails } from "./operate/register-rails.ts";
export type { Progress, Task, Task as UpkeepTask, TaskRun } from "./upkeep/task.ts";
export { openSidePool, type SidePool } from "../db/side-pool.ts";
export { TaskMetrics } from "./observe/task-metrics.ts";
export type {
  Json,
  LookupOutcome,
  Rail,
  RailCapability,
  RailContext,
  RailMessage,
  RailOutcome,
  Validation,
} from "../contract/rail.ts";
export { HeadroomError } from "../db/errors.ts";
export { migrate } from "./migrate.ts";
