/**
 * The delivery engine on its own: a transactional outbox on your Postgres, with strict order per key, an append-only
 * record of every attempt, and rails of your own.
 *
 *     import { createRelay, enqueue } from "headroom/outbox";
 *
 *     await enqueue(client, { stream: "orders", key: order.id, instructionId: order.id, idempotencyKey: "created", rail: "shop", payload });
 *     const relay = createRelay({ connectionString, rails: [shop] });
 *     await relay.start();
 */
export { enqueue, enqueueMany, type Bind, type EnqueueResult, type JsonPath, type NewRow } from "./enqueue.ts";
export {
  createDrainer,
  type Drainer,
  type DrainerOptions,
  type DrainOptions,
  type DrainReport,
  type TurnStart,
} from "./drain.ts";
export { createRelay, type Relay } from "./relay.ts";
export { relaySteps, type RelayLogEntry, type RelayOptions, type RelayStep } from "./options.ts";
export { changeStream, createStream, type StreamChanges, type StreamSettings } from "./create-stream.ts";
export { registerRails } from "./streams.ts";
export {
  disableEndpoint,
  enableEndpoint,
  listEndpoints,
  pingEndpoint,
  putEndpoint,
  removeEndpoint,
  replayEnvelopes,
  rotateEndpointSecret,
  type Endpoint,
  type EndpointChanges,
  type EndpointOwner,
  type PutEndpointOptions,
} from "./endpoints.ts";
export { listAlerts, putAlert, removeAlert, type Alert, type AlertChanges } from "./alerts.ts";
export type {
  Json,
  LookupOutcome,
  Rail,
  RailCapability,
  RailContext,
  RailMessage,
  RailOutcome,
  Validation,
} from "../rails/rail.ts";
export { HeadroomError } from "../db/errors.ts";
export { migrate } from "./migrate.ts";
