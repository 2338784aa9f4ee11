/** The options that every command which runs a relay shares. */
import type { Command } from "commander";
import { builtInStreams } from "../../outbox/claim/streams.ts";
import { collectNames, parseWhole } from "../options.ts";
import { describeProviders } from "./provider-rails.ts";

/** The options that decide which rails there are, in addition to the environment and the database. */
export interface RailOptions {
  readonly rails?: string;
  readonly endpoints?: string;
  readonly webhooks?: boolean;
  readonly allowHttp?: boolean;
  readonly allowPrivate?: readonly string[];
}

export interface RelayCommandOptions extends RailOptions {
  readonly streams?: readonly string[];
  readonly concurrency?: number;
  readonly pollMs?: number;
  readonly listen: boolean;
  readonly name?: string;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  readonly json?: boolean;
}

/** For every command that delivers, as a process or on demand. */
export function addRailOptions(command: Command): Command {
  return command
    .option(
      "--rails <module>",
      "a module whose default export is a rail, a list of them, or a function that makes them",
    )
    .option(
      "--endpoints <file>",
      "endpoints of the built-in webhook rail, as JSON, in addition to those of the database",
    )
    .option(
      "--webhooks",
      "serve the endpoints of the database (default: when HEADROOM_SECRET_KEY is set, or Vault keeps the secrets)",
    )
    .option("--allow-http", "let webhook endpoints use http, for a sandbox or a trusted network")
    .option("--allow-private <range>", "let webhooks reach these addresses, e.g. 127.0.0.1/32", collectNames)
    .addHelpText("after", describeProviders);
}

export function addRelayOptions(command: Command): Command {
  return addRailOptions(command)
    .option(
      "--streams <names>",
      `streams to serve, separated by commas; ${builtInStreams} means Headroom's own (default: ${builtInStreams})`,
      collectNames,
    )
    .option("--concurrency <calls>", "calls under way at the same time (default: 100)", parseWhole(1, 10_000))
    .option(
      "--poll-ms <ms>",
      "how often to check for rows when nothing wakes the relay (default: 500)",
      parseWhole(250, 1_000),
    )
    .option("--no-listen", "do not LISTEN for wake-ups, only poll")
    .option("--name <name>", "shown in the archive and in `outbox status` (default: host and process)")
    .option(
      "--metrics-port <port>",
      "serve /metrics, /healthz and /readyz there; 0 takes a free one",
      parseWhole(0, 65_535),
    )
    .option("--metrics-host <address>", "address for them", "127.0.0.1");
}

export function servedStreams(names: readonly string[] | undefined): readonly string[] {
  return names ?? [builtInStreams];
}

/** For an installation by `headroom up`: everything is on this machine, so webhooks may stay on it too. */
export function allowLoopback<T extends RailOptions>(options: T): T {
  return { ...options, allowHttp: true, allowPrivate: [...(options.allowPrivate ?? []), "127.0.0.1/32"] };
}
