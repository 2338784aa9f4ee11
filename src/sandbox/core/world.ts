/**
 * What all stand-ins share: the sample data, the clock, ids, faults, the log of calls, and the webhooks to Headroom.
 */
import type { SampleData } from "../sample-data.ts";
import type { WebhookSender } from "./webhook-sender.ts";
import type { Exchange } from "./exchange.ts";
import type { Ids } from "./ids.ts";

export interface SandboxSecrets {
  readonly slackSigningSecret: string;
  readonly linearWebhookSecret: string;
  readonly githubWebhookSecret: string;
  readonly stripeWebhookSecret: string;
  /** The repository's HEADROOM_CALLBACK_SECRET. Default: none, so that runs of our workflows fail at their claim. */
  readonly provisioningCallbackSecret?: string;
  /** The repository's HEADROOM_CALLBACK_URL. Default: Headroom's own address. */
  readonly provisioningCallbackUrl?: string;
  /** If given, only this token is accepted; otherwise any token of the right form. Likewise below. */
  readonly slackBotToken?: string;
  readonly linearApiKey?: string;
  readonly githubToken?: string;
  readonly stripeSecretKey?: string;
  readonly postalApiKey?: string;
  /** An RSA key in PEM that signs Postal's webhooks and the identity provider's tokens. Default: a new one for each process. */
  readonly privateKey?: string;
}

export interface World extends Exchange {
  readonly sampleData: SampleData;
  readonly secrets: SandboxSecrets;
  /** The address of the sandbox itself. */
  readonly url: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly ids: Ids;
  readonly webhooks: WebhookSender;
}
