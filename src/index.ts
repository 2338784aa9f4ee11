/**
 * Headroom's public API, as a table of contents.
 *
 * The request workflow (also as "headroom/capacity"); a refusal is a value, a failure is thrown:
 *
 *     const created = await createRequest(client, { requester: "ann", size: "32XL", quantity: 4, region: "us-east-1" });
 *
 * Provisioning jobs (also as "headroom/provisioning"):
 *
 *     const retried = await retryJob(client, "CR-2026-000042", { as: "ada", reason: "The quota was raised." });
 *
 * The delivery engine, usable on its own (also as "headroom/outbox"):
 *
 *     await enqueue(client, { stream, key, instructionId, idempotencyKey, rail, payload });
 *     await createRelay({ connectionString, rails, streams: [stream] }).start();
 *
 * Endpoints and alerts above it (also as "headroom/webhooks"):
 *
 *     await putEndpoint(client, "billing", { url, topics: ["com.example.transfer.*"] }, { key });
 */
export * from "./capacity/index.ts";
export * from "./provisioning/index.ts";
export * from "./directory/index.ts";
export * from "./db/secrets/index.ts";
export * from "./outbox/index.ts";
export * from "./webhooks/index.ts";

/** The rails that come with it, and the suite that your own rail has to pass. */
export { createWebhookRail } from "./rails/webhook/rail.ts";
export { createStoredEndpoints } from "./rails/webhook/stored-endpoints.ts";
export { createSlackInteractionRail, createSlackRail } from "./rails/slack/rail.ts";
export { createLinearRail } from "./rails/linear/rail.ts";
export { createEmailRail } from "./rails/email/rail.ts";
export { createGithubActionsRail } from "./rails/github-actions/rail.ts";
export { createStripeRail } from "./rails/stripe/rail.ts";
export { createTableRail } from "./rails/table/rail.ts";
export { createRailRegistry } from "./contract/registry.ts";

/** The database: an embedded server, connections, and `call`, which calls its functions. */
export { startEmbedded } from "./db/embedded.ts";
export { connect, createPool, probeServer } from "./db/connect.ts";
export { call } from "./db/call.ts";
