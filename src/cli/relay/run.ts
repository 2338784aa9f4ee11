/**
 * Runs a relay for a command, from its options to its orderly end.
 *
 * Owns: the relay and what it does besides sending, its metrics server and its log. Does not own: signals, the database server and the side
 * pool, which rails use too (the command does).
 */
import { describeDatabaseUrl } from "../../db/connect.ts";
import { HeadroomError } from "../../db/errors.ts";
import type { SidePool } from "../../db/side-pool.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import { createDrainer, type Drainer } from "../../outbox/relay/drain.ts";
import { createRelay, type Relay } from "../../outbox/relay/relay.ts";
import type { Rail } from "../../contract/rail.ts";
import { raiseAlerts } from "../../webhooks/alerts.ts";
import { closeRails } from "./close-rails.ts";
import type { Log } from "./log.ts";
import { startMetricsServer } from "./metrics-server.ts";
import { type RelayCommandOptions, servedStreams } from "./options.ts";
import { relayGauges, relayTasks } from "./tasks.ts";

export interface RunningRelay {
  readonly relay: Relay;
  readonly rails: readonly Rail[];
  readonly metricsUrl: string | undefined;
  /** For the route that wakes a relay: due rows are delivered by the same rails, in addition to the relay. */
  drain: Drainer["drain"];
  stop(): Promise<void>;
}

export async function runRelay(
  url: string,
  side: SidePool,
  rails: readonly Rail[],
  options: RelayCommandOptions,
  log: Log,
): Promise<RunningRelay> {
  const relay = createRelay({
    connectionString: url,
    rails,
    streams: servedStreams(options.streams),
    concurrency: options.concurrency,
    pollMs: options.pollMs,
    listen: options.listen,
    name: options.name,
    side,
    upkeepTasks: relayTasks,
    gauges: relayGauges,
    log,
  });
  let stopping = false;
  const metrics =
    options.metricsPort === undefined
      ? undefined
      : await startMetricsServer({
          host: options.metricsHost,
          port: options.metricsPort,
          metrics: () => relay.metrics(),
          problem: () => problemOf(side, relay, stopping),
        });
  try {
    await relay.start();
  } catch (error) {
    await metrics?.close();
    throw error;
  }
  let drainer: Drainer | undefined;
  return {
    relay,
    rails,
    metricsUrl: metrics?.url,
    drain(limits) {
      if (stopping) return Promise.reject(new HeadroomError("shutting_down", "The relay is being stopped."));
      drainer ??= createDrainer({
        connectionString: url,
        rails,
        streams: servedStreams(options.streams),
        side,
        upkeepTasks: [raiseAlerts],
        log,
      });
      return drainer.drain(limits);
    },
    async stop() {
      stopping = true;
      await Promise.all([relay.stop(), drainer?.close()]);
      await metrics?.close();
      closeRails(rails);
    },
  };
}

const answerMs = 2_000;

/** Uses a new connection: the relay's own are busy, and the check is whether another can be opened. */
async function problemOf(side: SidePool, relay: Relay, stopping: boolean): Promise<string | null> {
  if (stopping) return "stopping";
  if (relay.server === undefined) return "starting";
  const connected = await withTimeout(side.connect(), answerMs).catch(() => undefined);
  return connected?.kind === "done" ? null : "the database cannot be reached";
}

/** What a person should know when a relay has started, and what to do if it has no rails. */
export function describeStart(url: string, running: RunningRelay, options: RelayCommandOptions): string[] {
  const { server } = running.relay;
  return [
    `database   ${describeDatabaseUrl(url)} (PostgreSQL ${versionOf(server?.versionNumber ?? 0)})`,
    `wake-up    ${describeWakeUp(options.listen, server)}`,
    `streams    ${servedStreams(options.streams).join(", ")}`,
    `rails      ${running.rails.map((rail) => `${rail.name} (${rail.capability})`).join(", ") || "none"}`,
    ...(running.metricsUrl === undefined ? [] : [`metrics    ${running.metricsUrl}/metrics`]),
    ...(running.rails.length > 0 ? [] : ["", ...nothingToServe]),
  ];
}

function describeWakeUp(wanted: boolean, server: Relay["server"]): string {
  if (!wanted || server === undefined) return "polling only";
  if (!server.listen) return "polling only, because a transaction pooler is in front of the server";
  return server.notify
    ? "LISTEN, and polling"
    : "polling, and NOTIFY of producers with outbox.notify = on: the server allows prepared transactions";
}

const nothingToServe = [
  "This relay has no rails, so it delivers nothing; it only takes back what dead relays left and makes partitions.",
  "Set a provider's variables or store its credential (headroom relay --help lists them), give it webhook endpoints (--endpoints endpoints.json)",
  "or a module of yours (--rails ./rails.ts).",
];

function versionOf(number: number): string {
  return `${Math.trunc(number / 10_000)}.${number % 10_000}`;
}
