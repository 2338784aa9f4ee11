/**
 * What the server is given. Nothing below src/http reads the environment or opens a connection on its own.
 *
 * Each part of the server that needs something adds an optional field. If it is missing, the routes that need it answer that they are
 * not configured.
 */
import type { OidcSettings } from "./auth/oidc.ts";
import type { HeldBytesOptions } from "./held-bytes.ts";
import type { InProgressOptions } from "./in-progress.ts";
import type { Drainer } from "../outbox/relay/drain.ts";
import type { LiveOptions } from "./live/event-feed.ts";
import type { HostPolicy } from "../web/hosts.ts";
import type { GatewayDatabase } from "./database/gateway-database.ts";

export interface GatewayKeys {
  /** Signs tokens (HS256); at least 32 characters. */
  readonly jwtSecret: string;
  /** The previous secret, while it is being changed: tokens that it signed are still accepted, and none are signed with it. */
  readonly previousJwtSecret?: string | undefined;
  /** The key that any client may have: a token of the role anon. */
  readonly anonKey: string;
  /** The key of machines: a token of the role service_role. */
  readonly serviceKey: string;
  /** When set, a token must have this audience. */
  readonly audience?: string | undefined;
  /** When set and not empty, a token must come from one of these. */
  readonly issuers?: readonly string[] | undefined;
}

/** An entry of the log: these fields and no others, so that nothing secret can slip in. */
export type HttpLogEntry = {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly event: string;
  readonly requestId?: string | undefined;
  readonly method?: string | undefined;
  /** The route's pattern. A path may hold a token, so it is never logged. */
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly role?: string | undefined;
  readonly code?: string | undefined;
  readonly sqlState?: string | undefined;
  readonly message?: string | undefined;
};

export interface HttpDependencies {
  readonly database: GatewayDatabase;
  readonly keys: GatewayKeys;
  /** The public address of this server, without a slash at the end. */
  readonly publicUrl: string;
  readonly log: (entry: HttpLogEntry) => void;
  /** Names that it answers to. Default: any. */
  readonly hosts?: HostPolicy | undefined;
  /** What X-Outbox-Secret must be for /api/internal/*. */
  readonly relaySecret?: string | undefined;
  /** The previous one, which is still accepted while the secret is being changed. */
  readonly previousRelaySecret?: string | undefined;
  /** Delivers what is due when /api/internal/outbox-relay is called. */
  readonly drainer?: Pick<Drainer, "drain"> | undefined;
  /** How long one such call may keep sending. Default: 10,000. */
  readonly relayBudgetMs?: number | undefined;
  /** The relay in this process, whose metrics are shown with the server's. */
  readonly relay?: { metrics(): Promise<string> } | undefined;
  /** Where members sign in; without one, only tokens and the sandbox's personas are left. */
  readonly oidc?: OidcSettings | undefined;
  /** True: /metrics asks for no key, because nobody from outside can reach it. Default: it asks for the service key. */
  readonly metricsOpen?: boolean | undefined;
  /** How much memory callers may hold. */
  readonly memory?: HeldBytesOptions | undefined;
  /** How many requests of each caller are worked on at once. */
  readonly inProgress?: InProgressOptions | undefined;
  /** Settings of live updates. */
  readonly live?: LiveOptions | undefined;
  /** True if stand-ins replace the providers and personas can be picked. */
  readonly sandbox?: boolean | undefined;
  /** How webhooks of providers are answered. */
  readonly webhooks?:
    | {
        /** Where late answers to Slack may go; a stand-in for Slack is named here. Default: Slack's own. */
        readonly slackResponseUrls?: readonly string[] | undefined;
        /** How long to wait before Slack gets an interim answer. Default: 2,500. */
        readonly acknowledgeMs?: number | undefined;
      }
    | undefined;
  /** How customers are sent to pay. */
  readonly payments?:
    | {
        /** Where Stripe's pages are; a stand-in for Stripe is named here. Default: https://checkout.stripe.com. */
        readonly checkoutOrigins?: readonly string[] | undefined;
        /** How long an answer waits for Stripe's page. Default: 8,000. */
        readonly waitMs?: number | undefined;
      }
    | undefined;
  /** How many proxies in front of the server can be trusted to state the caller's address (X-Forwarded-For). Default: 0. */
  readonly trustedProxies?: number | undefined;
  /** The time in milliseconds. Default: the clock. */
  readonly now?: (() => number) | undefined;
}
