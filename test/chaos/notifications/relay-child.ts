/**
 * A relay of messages to people with its real rails and its dispatcher.
 *
 *     node relay-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { openSidePool } from "../../../src/db/side-pool.ts";
import { startDispatcher } from "../../../src/notify/index.ts";
import { makeUnsubscribeToken, slackWebhookOf } from "../../../src/notify/sending.ts";
import { createEmailRail } from "../../../src/rails/email/rail.ts";
import { createSlackWebhookRail } from "../../../src/rails/slack-webhook/rail.ts";
import { createSlackRail } from "../../../src/rails/slack/rail.ts";
import { relayTrapSchema, runRelayPart } from "../kit/relay-part.ts";
import { secretKey } from "../kit/secrets.ts";
import { sender } from "./directory.ts";

const configSchema = z.object({
  connectionString: z.string(),
  sandboxUrl: z.string(),
  smtpUrl: z.string(),
  mailBy: z.enum(["smtp", "postal"]),
  trap: relayTrapSchema.optional(),
});

const { connectionString, sandboxUrl, smtpUrl, mailBy, trap } = configSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
const timeoutMs = 2_000;
const side = openSidePool(connectionString);

const rails = [
  createEmailRail({
    from: sender,
    transport:
      mailBy === "smtp"
        ? { kind: "smtp", url: smtpUrl }
        : { kind: "postal", url: `${sandboxUrl}/postal`, key: "a-key-for-chaos" },
    timeoutMs,
    confirmationToken: () => Promise.reject(new Error("nobody is asked to confirm anything here")),
    unsubscribeToken: (notificationId, { outboxId }) =>
      side.read((db) => makeUnsubscribeToken(db, { notificationId, outboxId }, secretKey)),
  }),
  createSlackRail({ token: "xoxb-chaos", apiUrl: `${sandboxUrl}/slack/api/`, timeoutMs, visibleAfterMs: 100 }),
  createSlackWebhookRail({
    hooksUrl: `${sandboxUrl}/slack/hooks/`,
    timeoutMs,
    address: ({ outboxId }) => side.read((db) => slackWebhookOf(db, outboxId, secretKey)),
  }),
];

await runRelayPart({ connectionString, rails, streams: ["people"], reapMs: 500, trap });
startDispatcher({ connectionString, everyMs: 100, atLeastEveryMs: 300, forgetEveryMs: 5_000 });
