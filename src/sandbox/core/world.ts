/**
 * What all stand-ins share: the cast, the clock, ids, faults, the record of calls, and the way back to Headroom.
 */
import type { Cast } from "../cast.ts";
import type { Courier } from "./courier.ts";
import type { Exchange } from "./exchange.ts";
import type { Ids } from "./ids.ts";

export interface SandboxSecrets {
  readonly slackSigningSecret: string;
  readonly linearWebhookSecret: string;
  readonly githubWebhookSecret: string;
  readonly stripeWebhookSecret: string;
  /** When given, no other token is let in; else anything of the right form is. Likewise below. */
  readonly slackBotToken?: string;
  readonly linearApiKey?: string;
  readonly githubToken?: string;
  readonly stripeSecretKey?: string;
  readonly postalApiKey?: string;
  /** An RSA key in PEM that signs Postal's webhooks and the identity provider's tokens. Default: a new one for each process. */
  readonly privateKey?: string;
}

export interface World extends Exchange {
  readonly cast: Cast;
  readonly secrets: SandboxSecrets;
  /** Where the sandbox itself is reached. */
  readonly url: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly ids: Ids;
  readonly courier: Courier;
}
