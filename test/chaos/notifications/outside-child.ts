/**
 * The sandbox's mail server, Postal and Slack in a separate process, so that it outlives the killed parts.
 *
 *     node outside-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { HeadroomError } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import type { FaultInput } from "../../../src/sandbox/core/faults.ts";
import { neverWorks } from "../../../src/sandbox/mail/mailbox.ts";
import type { PostalEvent } from "../../../src/sandbox/mail/postal.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { answerAsks } from "../kit/asked-process.ts";
import { crowdOf } from "./directory.ts";

const { headroomUrl, people } = z
  .object({ headroomUrl: z.string(), people: z.number() })
  .parse(JSON.parse(process.argv[2] ?? "{}"));

const sandbox = await startSandbox({
  sampleData: {
    ...defaultSampleData,
    people: crowdOf(people).map(({ id, email, slackUserId }) => ({
      memberId: id,
      name: id,
      email,
      slackUserId,
      title: "Somebody",
    })),
  },
  secrets: {
    slackSigningSecret: "slack",
    linearWebhookSecret: "linear",
    githubWebhookSecret: "github",
    stripeWebhookSecret: "stripe",
  },
  requestLimit: 100,
  mailLimit: Number.MAX_SAFE_INTEGER,
});
const { mail, slack, faults } = sandbox;
sandbox.connect({ headroomUrl });

/** An accepted message. */
export interface Arrived {
  readonly channel: "email" | "slack";
  /** The address, or the person's id in Slack. */
  readonly to: string;
  readonly atMs: number;
  /** Its whole text. */
  readonly text: string;
  /** The outbox row that it came from, if it names one: a webhook does not. */
  readonly outboxId: string | null;
  /** Postal's last report; null by SMTP and in Slack. */
  readonly reported: "sent" | "bounced" | null;
}

/** Mails that bounced: Postal's other reports do not change that. */
const bounced = new Set<string>();

async function report(id: string, event: PostalEvent): Promise<void> {
  if (event === "MessageBounced" || event === "MessageDeliveryFailed") bounced.add(id);
  mail.report(id, event);
  // Until the first answer; a refused report is repeated after a minute.
  while (sandbox.webhooks.list("postal")[0]?.tries.length === 0) await pause(5);
}

const acts = {
  smtpUrl: (): string => sandbox.smtpUrl,
  postalKey: (): string => mail.postalPublicKey,
  addFault: (fault: FaultInput): void => void faults.add(fault),
  clearFaults: (): void => faults.clear(),
  hits: (): Record<string, number> =>
    Object.fromEntries(
      faults
        .list()
        .flatMap(({ provider, method, kind, hits }) =>
          hits > 0 ? [[`fault: ${provider} ${method ?? "any"} ${kind}`, hits] as const] : [],
        ),
    ),
  count: (): number => mail.list().length + slack.channels().reduce((sum, { messages }) => sum + messages.length, 0),
  /** A mail of this age, counted from the newest, bounces after all. */
  bounce: async (age: number, event: PostalEvent): Promise<boolean> => {
    const found = mail.list().filter(({ via }) => via === "postal")[age];
    if (found === undefined) return false;
    await report(found.id, event);
    return true;
  },
  /** Postal repeats its report about every mail, so no report is lost permanently. */
  repeatReports: async (): Promise<void> => {
    for (const { id, via, to } of mail.list()) {
      if (via !== "postal") continue;
      await report(id, bounced.has(id) || to.some(neverWorks) ? "MessageDeliveryFailed" : "MessageSent");
    }
  },
  arrived: (): Arrived[] => [
    ...mail.list().map((each): Arrived => ({
      channel: "email",
      to: each.to[0] ?? "",
      atMs: Date.parse(each.at),
      text: `${each.subject}\n${each.text ?? ""}`,
      outboxId: each.tag ?? /^<([0-9a-f-]{36})@/.exec(each.messageId ?? "")?.[1] ?? null,
      reported: each.via !== "postal" ? null : bounced.has(each.id) ? "bounced" : "sent",
    })),
    ...slack.channels().flatMap(({ name, messages }) =>
      messages.map((each): Arrived => ({
        channel: "slack",
        to: name,
        atMs: Number(each.ts) * 1_000,
        text: `${each.text}\n${JSON.stringify(each.blocks ?? [])}`,
        outboxId: idOf(each.metadata?.event_payload["outbox_id"]),
        reported: null,
      })),
    ),
  ],
} as const;
export type Acts = typeof acts;

function idOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

process.on("uncaughtException", (error) => {
  // A regular refusal is an answer like any other.
  if (!(error instanceof HeadroomError)) throw error;
});

answerAsks(acts, sandbox.url);
