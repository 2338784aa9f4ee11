/**
 * The webhook rail, connected to the fault-injecting receiver.
 */
import { randomBytes } from "node:crypto";
import type { RailHarness, SandboxFault } from "../../../../src/contract/conformance/suite.ts";
import type { RailMessage } from "../../../../src/contract/rail.ts";
import { createWebhookRail } from "../../../../src/rails/webhook/rail.ts";
import type { WebhookEndpoint, WebhookRailOptions } from "../../../../src/rails/webhook/rail.ts";
import { messageOf } from "../messages.ts";
import type { Fault } from "../receiver/receiver-faults.ts";
import { startReceiver } from "../receiver/receiver.ts";
import type { Receiver, ReceiverOptions } from "../receiver/receiver.ts";

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** Nothing listens on the port for multiplexing TCP services. */
export const unreachableUrl = "http://127.0.0.1:1/hook";

/** What allows a rail to call a receiver on loopback. */
export const loopbackRules = { allowHttp: true, allowPrivate: ["127.0.0.1/32"] } as const;

const throttleAfterSeconds = 7;

const faults: Readonly<Record<Exclude<SandboxFault, "unreachable">, Fault>> = {
  refuse: { kind: "status", status: 400, body: "no, thank you" },
  refuse_echoing: { kind: "echo", status: 400 },
  throttle: { kind: "throttle", retryAfter: throttleAfterSeconds },
  fail: { kind: "status", status: 500, body: "out of order" },
  hang: { kind: "hang" },
  close_before_read: { kind: "close" },
  fail_after_accept: { kind: "status", status: 500, body: "out of order", effect: true },
  drop_after_accept: { kind: "drop" },
  close_mid_answer: { kind: "mid-body" },
  answer_late: { kind: "late" },
  garbage: { kind: "garbage" },
};

export interface WebhookSandbox extends RailHarness {
  readonly receiver: Receiver;
  readonly endpoint: WebhookEndpoint;
}

export async function openWebhookSandbox(
  railOptions: Partial<WebhookRailOptions> = {},
  receiverOptions: ReceiverOptions = {},
): Promise<WebhookSandbox> {
  const secrets = [newSecret(), newSecret()];
  const token = randomBytes(18).toString("base64");
  const receiver = await startReceiver({ secrets: secrets.slice(1), ...receiverOptions });
  const headers = { Authorization: `Bearer ${token}` };
  const endpoint: WebhookEndpoint = {
    url: `${receiver.url}/hook?token=${encodeURIComponent(token)}`,
    secrets,
    headers,
  };
  const unreachable: WebhookEndpoint = { url: unreachableUrl, secrets };
  let isUnreachable = false;
  const rail = createWebhookRail({
    ...loopbackRules,
    endpoint: () => {
      const chosen = isUnreachable ? unreachable : endpoint;
      isUnreachable = false;
      return Promise.resolve(chosen);
    },
    ...railOptions,
  });
  const requestsOf = (message: RailMessage): number =>
    receiver.book.requests.filter(({ webhookId }) => webhookId === message.outboxId).length;
  return {
    rail,
    receiver,
    endpoint,
    throttleAfterMs: throttleAfterSeconds * 1000,
    secrets: [...secrets, ...secrets.map((secret) => secret.slice("whsec_".length)), token],
    message: () => messageOf(),
    invalidMessages: () => [
      messageOf(null),
      messageOf("text"),
      messageOf([]),
      messageOf({ specversion: "1.0", id: "1", source: "/orders" }),
      messageOf({ specversion: "0.3", id: "1", source: "/orders", type: "order.paid" }),
    ],
    next(fault) {
      if (fault === "unreachable") isUnreachable = true;
      else receiver.script.push(faults[fault]);
    },
    received: (message) => receiver.received(message.outboxId),
    release: () => void receiver.release(),
    calls: requestsOf,
    effects: ({ payload }) => receiver.book.effects.filter(({ body }) => body === JSON.stringify(payload)).length,
    async close() {
      rail.close();
      await receiver.close();
    },
  };
}
