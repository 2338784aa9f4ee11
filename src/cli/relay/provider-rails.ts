/**
 * The rails of the providers that the environment has settings for: a provider whose variables are set gets its rails, one
 * with none of them is left out, and one with some of them is an error that says which are missing. Credentials that the environment does
 * not set may be stored in the database.
 *
 * Owns: which variables belong to which provider. Does not own: what a setting must look like (each rail's config says).
 */
import { draftLink } from "../../billing/draft-link.ts";
import { confirmationLink } from "../../capacity/ask-customer.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import type { SecretKey } from "../../db/secrets/secret-key.ts";
import type { Use } from "../../db/side-pool.ts";
import { type MailLink, noSuchLink, unsubscribeLink } from "../../notify/sending.ts";
import type { EmailSettings } from "../../rails/email/config.ts";
import { checkEmailAccess } from "../../rails/email/access-check.ts";
import { createEmailRail, type MakeToken } from "../../rails/email/rail.ts";
import type { GithubActionsSettings } from "../../rails/github-actions/config.ts";
import { checkGithubAccess, type ConnectedRepository } from "../../rails/github-actions/access-check.ts";
import { createGithubActionsRail } from "../../rails/github-actions/rail.ts";
import type { LinearSettings } from "../../rails/linear/config.ts";
import { checkLinearAccess } from "../../rails/linear/access-check.ts";
import { createLinearRail } from "../../rails/linear/rail.ts";
import type { AccessCheck } from "../../rails/access-check.ts";
import type { Rail } from "../../contract/rail.ts";
import type { SlackSettings } from "../../rails/slack/config.ts";
import { checkSlackAccess } from "../../rails/slack/access-check.ts";
import { createSlackInteractionRail, createSlackRail } from "../../rails/slack/rail.ts";
import { checkStripeAccess } from "../../rails/stripe/access-check.ts";
import type { StripeSettings } from "../../rails/stripe/config.ts";
import { createStripeRail } from "../../rails/stripe/rail.ts";
import { secretKeyOf } from "../secret-key.ts";
import { renewableRails, type CredentialValues, type StoredCredentials } from "./stored-credentials.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface Given {
  /** Lends a connection to the database, for what a rail reads while it sends. */
  readonly read: Use;
  /** The variable's value; an empty text when it is not set. */
  readonly text: (variable: string) => string;
  /** The same, when it need not be set. */
  readonly optional: (variable: string) => string | undefined;
  readonly secretKey: SecretKey | undefined;
}

/** The parts of a provider that this installation uses. */
export interface Places {
  /** Channels or teams. */
  readonly names: readonly string[];
  readonly repositories: readonly ConnectedRepository[];
}

interface Provider {
  readonly name: string;
  /** The name of its check; providers of the same service share it. */
  readonly check: string;
  /** Its rails. */
  readonly rails: readonly string[];
  /** Setting one of these means that the provider is to be used. */
  readonly own: readonly string[];
  /** All the variables that it needs then. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /**
   * The ones that may be stored in the database instead. Addresses may not: anyone who can store secrets could send a credential of the
   * environment to their own server.
   */
  readonly credentials: readonly string[];
  create(given: Given): Rail[];
  /** Checks with the provider whether these settings work. */
  checkAccess(given: Given, places: Places, signal: AbortSignal): Promise<AccessCheck>;
}

const providers: readonly Provider[] = [
  {
    name: "Slack",
    check: "slack",
    rails: ["slack", "slack-interaction"],
    own: ["SLACK_BOT_TOKEN"],
    required: ["SLACK_BOT_TOKEN"],
    optional: ["SLACK_API_URL"],
    credentials: ["SLACK_BOT_TOKEN"],
    create: (given) => [createSlackRail(slackOf(given)), createSlackInteractionRail(slackOf(given))],
    checkAccess: (given, { names }, signal) => checkSlackAccess(slackOf(given), names, signal),
  },
  {
    name: "Linear",
    check: "linear",
    rails: ["linear"],
    own: ["LINEAR_API_KEY"],
    required: ["LINEAR_API_KEY"],
    optional: ["LINEAR_API_URL"],
    credentials: ["LINEAR_API_KEY"],
    create: (given) => [createLinearRail(linearOf(given))],
    checkAccess: (given, { names }, signal) => checkLinearAccess(linearOf(given), names, signal),
  },
  {
    name: "Mail by SMTP",
    check: "mail",
    rails: ["email"],
    own: ["SMTP_URL"],
    required: ["SMTP_URL", "MAIL_FROM"],
    optional: [],
    credentials: ["SMTP_URL"],
    create: (given) => [emailRail(given, smtpOf(given))],
    checkAccess: (given, _places, signal) =>
      checkEmailAccess({ from: given.text("MAIL_FROM"), transport: smtpOf(given) }, signal),
  },
  {
    name: "Mail by Postal",
    check: "mail",
    rails: ["email"],
    own: ["POSTAL_URL", "POSTAL_API_KEY"],
    required: ["POSTAL_URL", "POSTAL_API_KEY", "MAIL_FROM"],
    optional: [],
    credentials: ["POSTAL_API_KEY"],
    create: (given) => [emailRail(given, postalOf(given))],
    checkAccess: (given, _places, signal) =>
      checkEmailAccess({ from: given.text("MAIL_FROM"), transport: postalOf(given) }, signal),
  },
  {
    name: "GitHub Actions",
    check: "github",
    rails: ["github-actions"],
    own: ["GITHUB_TOKEN"],
    required: ["GITHUB_TOKEN"],
    optional: ["GITHUB_API_URL"],
    credentials: ["GITHUB_TOKEN"],
    create: (given) => [createGithubActionsRail(githubOf(given))],
    checkAccess: (given, { repositories }, signal) => checkGithubAccess(githubOf(given), repositories, signal),
  },
  {
    name: "Stripe",
    check: "stripe",
    rails: ["stripe"],
    own: ["STRIPE_SECRET_KEY"],
    required: ["STRIPE_SECRET_KEY"],
    optional: ["STRIPE_API_URL"],
    credentials: ["STRIPE_SECRET_KEY"],
    create: (given) => [createStripeRail(stripeOf(given))],
    checkAccess: (given, _places, signal) => checkStripeAccess(stripeOf(given), signal),
  },
];

function slackOf({ text, optional }: Given): SlackSettings {
  return { token: text("SLACK_BOT_TOKEN"), apiUrl: optional("SLACK_API_URL") };
}

function linearOf({ text, optional }: Given): LinearSettings {
  return { apiKey: text("LINEAR_API_KEY"), apiUrl: optional("LINEAR_API_URL") };
}

function githubOf({ text, optional }: Given): GithubActionsSettings {
  return { token: text("GITHUB_TOKEN"), apiUrl: optional("GITHUB_API_URL") };
}

function stripeOf({ text, optional }: Given): StripeSettings {
  return { secretKey: text("STRIPE_SECRET_KEY"), apiUrl: optional("STRIPE_API_URL") };
}

function smtpOf({ text }: Given): EmailSettings["transport"] {
  return { kind: "smtp", url: text("SMTP_URL") };
}

function postalOf({ text }: Given): EmailSettings["transport"] {
  return { kind: "postal", url: text("POSTAL_URL"), key: text("POSTAL_API_KEY") };
}

/** The database makes the links' tokens, at the moment of sending. */
function emailRail({ text, secretKey, read }: Given, transport: EmailSettings["transport"]): Rail {
  const tokenOf =
    ({ streams, makeToken }: MailLink): MakeToken =>
    async (id, mail) => {
      if (!streams.includes(mail.stream)) throw noSuchLink();
      return read((db) => makeToken(db, id, mail, secretKey));
    };
  return createEmailRail({
    from: text("MAIL_FROM"),
    transport,
    confirmationToken: tokenOf(confirmationLink),
    draftToken: tokenOf(draftLink),
    unsubscribeToken: tokenOf(unsubscribeLink),
  });
}

/** For the help of commands that run a relay. */
export function describeProviders(): string {
  const width = Math.max(...providers.map(({ name }) => name.length));
  const lines = providers.map(
    ({ name, required, optional, rails }) =>
      `  ${name.padEnd(width)}  ${[...required, ...optional.map((each) => `[${each}]`)].join(" ")}  (${rails.join(", ")})`,
  );
  return [
    "",
    "Providers, from the environment (docs/guides/rails.md):",
    ...lines,
    `${credentialNames.join(", ")} may be stored in the database instead: headroom secret set <name>`,
  ].join("\n");
}

/** The state of one provider's settings in the environment. */
export interface ProviderStatus {
  readonly name: string;
  readonly check: string;
  readonly rails: readonly string[];
  readonly own: readonly string[];
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly credentials: readonly string[];
  readonly used: boolean;
  /** Required variables that are not set. */
  readonly missing: readonly string[];
}

export function providerStatus(environment: Environment): ProviderStatus[] {
  return providers.map(({ name, check, rails, own, required, optional, credentials }) => ({
    name,
    check,
    rails,
    own,
    required,
    optional,
    credentials,
    used: own.some((variable) => isSet(environment, variable)),
    missing: required.filter((variable) => !isSet(environment, variable)),
  }));
}

function isSet(environment: Environment, variable: string): boolean {
  return valueOf(environment, variable) !== undefined;
}

function givenBy(read: Use, environment: Environment): Given {
  return {
    read,
    text: (variable) => valueOf(environment, variable) ?? "",
    optional: (variable) => valueOf(environment, variable),
    secretKey: secretKeyOf(environment),
  };
}

/** Asks the provider of that name whether the settings of the environment work; they must be complete. */
export async function checkProviderAccess(
  name: string,
  environment: Environment,
  places: Places,
  signal: AbortSignal,
): Promise<AccessCheck> {
  const provider = providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new HeadroomError("usage", `There is no provider "${name}".`);
  return provider.checkAccess(givenBy(unread, environment), places, signal);
}

/** A check needs no links. */
const unread: Use = () => Promise.reject(new Error("nothing is read here"));

/** The variables that the database may keep for relays. */
export const credentialNames: readonly string[] = [...new Set(providers.flatMap(({ credentials }) => credentials))];

/** An environment, completed by what the database keeps. */
export interface Completed {
  readonly environment: Environment;
  /** The variables that came from the database. */
  readonly stored: ReadonlySet<string>;
  /** Why stored variables are not used, in sentences. */
  readonly unused: readonly string[];
}

/** The environment takes precedence: a provider that it sets up, before another that has the same rail. */
export function completeWith(credentials: CredentialValues, environment: Environment): Completed {
  const completed: Record<string, string | undefined> = { ...environment };
  const stored = new Set<string>();
  const unused: string[] = [];
  const taken = providerStatus(environment).filter(({ used }) => used);
  for (const status of providerStatus(environment)) {
    const { name, own, required, rails } = status;
    const given = status.credentials.filter((variable) => !isSet(environment, variable) && credentials.has(variable));
    if (given.length === 0) continue;
    const rival = taken.find((other) => other.name !== name && other.rails.some((rail) => rails.includes(rail)));
    const locked = given.filter((variable) => credentials.get(variable) === null);
    const missing = required.filter((variable) => !isSet(environment, variable) && !given.includes(variable));
    const what = `${given.join(", ")} is stored in the database`;
    if (rival !== undefined && !own.some((variable) => isSet(environment, variable)))
      unused.push(`${what}, and not used, because ${rival.name} is set up.`);
    else if (locked.length > 0) unused.push(`${what}, under a key that this process does not have.`);
    else if (missing.length > 0)
      unused.push(`${what}, but ${name} also needs ${missing.join(", ")} in the environment.`);
    else {
      for (const variable of given) {
        completed[variable] = credentials.get(variable) ?? undefined;
        stored.add(variable);
      }
      taken.push(status);
    }
  }
  return { environment: completed, stored, unused };
}

/** A stored credential that cannot be used is reported and left out: unlike the environment, it can change after the relay's start. */
export function createProviderRails(read: Use, environment: Environment, kept?: StoredCredentials): Rail[] {
  const completed = completeWith(kept?.values ?? new Map<string, string>(), environment);
  for (const message of completed.unused) kept?.log({ level: "warn", event: "credential_not_used", message });
  checkEnvironment(completed.environment);
  const used = new Set(providerStatus(completed.environment).flatMap((status) => (status.used ? [status.name] : [])));
  return providers
    .filter(({ name }) => used.has(name))
    .flatMap((provider) => {
      const names = provider.credentials.filter((variable) => completed.stored.has(variable));
      if (kept === undefined || names.length === 0) return provider.create(givenBy(read, completed.environment));
      const make = (values: CredentialValues): Rail[] =>
        provider.create(givenBy(read, completeWith(values, environment).environment));
      return madeOfStored(provider, () => renewableRails(make, names, kept), kept);
    });
}

function madeOfStored({ name }: Provider, make: () => Rail[], { log }: StoredCredentials): Rail[] {
  try {
    return make();
  } catch (error) {
    const { code, message } = toHeadroomError(error);
    log({ level: "error", event: "credential_refused", what: name, code, message });
    return [];
  }
}

/** Throws if something is missing or set up twice, before anything is connected. */
export function checkEnvironment(environment: Environment): void {
  const used = providerStatus(environment).filter((status) => status.used);
  for (const { name, required, missing } of used) {
    if (missing.length === 0) continue;
    throw new HeadroomError("usage", `${name} is set up only in part: ${missing.join(", ")} is missing.`, {
      hint: `Set ${required.join(", ")} together, or none of them.`,
    });
  }
  const rails = used.flatMap((status) => status.rails);
  const twice = rails.find((rail, at) => rails.indexOf(rail) !== at);
  if (twice === undefined) return;
  const rivals = used.filter((status) => status.rails.includes(twice)).map((status) => status.name);
  throw new HeadroomError("usage", `The rail "${twice}" is set up twice: ${rivals.join(" and ")}.`, {
    hint: "Leave one of them out of the environment.",
  });
}

/** An empty variable is treated as not set: compose files and CI leave variables out that way. */
export function valueOf(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]?.trim();
  return value === "" ? undefined : value;
}
