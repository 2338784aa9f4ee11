/**
 * A relay of messages to people with its real rails and the dispatcher beside it, which kills itself at one step of one rail if it was told
 * to.
 *
 *     node relay-child.ts '<config as JSON>'
 */
import { z } from "zod";
import type { Rail } from "../../../src/contract/rail.ts";
import { openSidePool } from "../../../src/db/side-pool.ts";
import { startDispatcher } from "../../../src/notify/index.ts";
import { makeUnsubscribeToken, slackWebhookOf } from "../../../src/notify/sending.ts";
import { createRelay } from "../../../src/outbox/relay/relay.ts";
import { createEmailRail } from "../../../src/rails/email/rail.ts";
import { createSlackWebhookRail } from "../../../src/rails/slack-webhook/rail.ts";
import { createSlackRail } from "../../../src/rails/slack/rail.ts";
import { endWithStarter } from "../provisioning/part-process.ts";
import { secretKey, sender } from "./directory.ts";

const trapSchema = z.object({
  rail: z.enum(["email", "slack", "slack-webhook"]),
  at: z.enum(["send.before", "send.after", "settle.before", "settle.after"]),
});
export type RelayTrap = z.infer<typeof trapSchema>;

const configSchema = z.object({
  connectionString: z.string(),
  sandboxUrl: z.string(),
  smtpUrl: z.string(),
  mailBy: z.enum(["smtp", "postal"]),
  trap: trapSchema.optional(),
});

const { connectionString, sandboxUrl, smtpUrl, mailBy, trap } = configSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
endWithStarter();
/** Whether a call of the rail that the trap waits for is under way. */
let isArmed = false;

function reach(step: string): void {
  if (isArmed && step === trap?.at) process.kill(process.pid, "SIGKILL");
}

function trapped(rail: Rail): Rail {
  return {
    ...rail,
    send(message, context) {
      isArmed ||= rail.name === trap?.rail;
      reach("send.before");
      return rail.send(message, context);
    },
  };
}

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

const relay = createRelay({
  connectionString,
  rails: rails.map(trapped),
  streams: ["people"],
  pollMs: 250,
  reapMs: 500,
  leaseMarginMs: 500,
  // The step before a send comes before the rail of the call is known.
  onStep: (step) => step !== "send.before" && reach(step),
  log({ event, ...entry }) {
    if (event === "relay_started") console.log(JSON.stringify({ ready: Number(entry["relayId"]) }));
  },
});
try {
  await relay.start();
} catch {
  process.exit(1);
}
startDispatcher({ connectionString, everyMs: 100, atLeastEveryMs: 300, forgetEveryMs: 5_000 });
