/**
 * All stand-ins, each with its state, its routes and its user actions.
 *
 * Owns: the list. Does not own: any provider, or the server.
 */
import type { KeyObject } from "node:crypto";
import type { Hono } from "hono";
import type { SandboxEnv } from "./core/exchange.ts";
import type { Saveable } from "./core/state-file.ts";
import type { World } from "./core/world.ts";
import { callbackRoutes } from "./github/callbacks.ts";
import { GithubUserActions } from "./github/user-actions.ts";
import { githubPages } from "./github/page.ts";
import { githubRoutes } from "./github/routes.ts";
import { GithubRunner, type RunOptions } from "./github/runner.ts";
import { GithubState } from "./github/state.ts";
import { LinearUserActions } from "./linear/user-actions.ts";
import { linearPages } from "./linear/page.ts";
import { linearRoutes } from "./linear/routes.ts";
import { LinearState } from "./linear/state.ts";
import { MailUserActions } from "./mail/user-actions.ts";
import { Mailbox } from "./mail/mailbox.ts";
import { mailPages } from "./mail/page.ts";
import { postalRoutes } from "./mail/postal.ts";
import { oidcRoutes } from "./oidc/routes.ts";
import { defaultClient, OidcState, type OidcClient } from "./oidc/state.ts";
import type { Live } from "./pages/live.ts";
import { SlackUserActions } from "./slack/user-actions.ts";
import { slackPages } from "./slack/page/routes.ts";
import { slackRoutes } from "./slack/routes.ts";
import { SlackState } from "./slack/state.ts";
import { StripeUserActions } from "./stripe/user-actions.ts";
import { stripeControl } from "./stripe/control.ts";
import { stripePages } from "./stripe/page/routes.ts";
import { stripeRoutes } from "./stripe/routes.ts";
import { StripeState } from "./stripe/state.ts";

export interface UserActions {
  readonly slack: SlackUserActions;
  readonly linear: LinearUserActions;
  readonly mail: MailUserActions;
  readonly github: GithubUserActions;
  readonly stripe: StripeUserActions;
}

export interface Providers {
  readonly routes: readonly Hono<SandboxEnv>[];
  readonly userActions: UserActions;
  readonly mailbox: Mailbox;
  /** State that the next start should find again. */
  readonly kept: Readonly<Record<string, Saveable>>;
  /** Resumes the work that the state file lists. Call it once the server can be reached. */
  resume(): void;
  /** Forgets everything that happened; ids start over. */
  reset(): void;
  /** Ends all processes that stand-ins have started. */
  close(): Promise<void>;
}

export interface ProviderOptions {
  /** Signs Postal's webhooks and the identity provider's tokens. */
  readonly key: KeyObject;
  readonly live: Live;
  readonly oidcClient?: OidcClient | undefined;
  readonly mailLimit: number;
  readonly runs: RunOptions;
}

export function createProviders(world: World, options: ProviderOptions): Providers {
  const { key, live, oidcClient, mailLimit, runs } = options;
  const slack = new SlackState(world);
  const linear = new LinearState(world);
  const mailbox = new Mailbox(world, mailLimit);
  const github = new GithubState(world);
  const runner = new GithubRunner(world, github, runs);
  const stripe = new StripeState(world);
  const oidc = new OidcState(world, oidcClient ?? defaultClient);
  const userActions: UserActions = {
    slack: new SlackUserActions(world, slack),
    linear: new LinearUserActions(world, linear),
    mail: new MailUserActions(world, mailbox, key),
    github: new GithubUserActions(world, github, runner),
    stripe: new StripeUserActions(world, stripe),
  };
  return {
    routes: [
      slackRoutes(world, slack),
      linearRoutes(world, linear),
      postalRoutes(world, mailbox, key),
      githubRoutes(world, github, runner),
      callbackRoutes(world, github),
      stripeRoutes(world, stripe),
      stripeControl(userActions.stripe),
      oidcRoutes(world, oidc, key),
      slackPages(world, slack, userActions.slack, live),
      linearPages(world, linear, userActions.linear),
      mailPages(world, userActions.mail),
      githubPages(userActions.github),
      stripePages(userActions.stripe),
    ],
    userActions,
    mailbox,
    kept: { ids: world.ids, slack, linear, mailbox, github, stripe },
    resume: () => runner.resume(),
    close: async () => void (await Promise.all([runner.close(), stripe.delivery.done()])),
    reset() {
      world.ids.reset();
      runner.reset();
      for (const state of [slack, linear, mailbox, github, stripe, oidc]) state.reset();
      world.changed();
    },
  };
}
