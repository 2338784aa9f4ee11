/**
 * The rails of the providers that the environment has settings for: a provider with all its required variables gets its
 * rails, one with none is left out, and one with some of them is an error that says which are missing.
 *
 * Owns: which variables belong to which provider. Does not own: what a setting must look like (each rail's config says).
 */
import { HeadroomError } from "../../db/errors.ts";
import type { Rail } from "../../rails/rail.ts";
import { createSlackInteractionRail, createSlackRail } from "../../rails/slack/rail.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface Provider {
  readonly name: string;
  /** The rails that it brings. */
  readonly rails: readonly string[];
  /** All of these, or none. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
  create(value: (name: string) => string | undefined): Rail[];
}

const providers: readonly Provider[] = [
  {
    name: "Slack",
    rails: ["slack", "slack-interaction"],
    required: ["SLACK_BOT_TOKEN"],
    optional: ["SLACK_API_URL"],
    create(value) {
      const settings = { token: value("SLACK_BOT_TOKEN") ?? "", apiUrl: value("SLACK_API_URL") };
      return [createSlackRail(settings), createSlackInteractionRail(settings)];
    },
  },
];

/** What the environment says about one provider. */
export interface ProviderStatus {
  readonly name: string;
  readonly rails: readonly string[];
  readonly required: readonly string[];
  /** Required variables that are not set; all of them when the provider is not used. */
  readonly missing: readonly string[];
}

export function providerStatus(environment: Environment): ProviderStatus[] {
  return providers.map(({ name, rails, required }) => ({
    name,
    rails,
    required,
    missing: required.filter((variable) => valueOf(environment, variable) === undefined),
  }));
}

export function createProviderRails(environment: Environment = process.env): Rail[] {
  return providers.flatMap((provider) => railsOf(provider, environment));
}

function railsOf(provider: Provider, environment: Environment): Rail[] {
  const { name, required } = provider;
  const missing = required.filter((variable) => valueOf(environment, variable) === undefined);
  if (missing.length === required.length) return [];
  if (missing.length > 0) {
    throw new HeadroomError("usage", `${name} is set up only in part: ${missing.join(", ")} is missing.`, {
      hint: `Set ${required.join(", ")} together, or none of them.`,
    });
  }
  return provider.create((variable) => valueOf(environment, variable));
}

/** An empty variable is one that is not set: that is how compose files and CI leave one out. */
function valueOf(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]?.trim();
  return value === "" ? undefined : value;
}
