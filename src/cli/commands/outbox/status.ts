/** `headroom outbox status`: the streams, the relays that serve them, and destinations in trouble. */
import type { Command } from "commander";
import type { Client } from "pg";
import { call, type FunctionResult } from "../../../db/call.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { formatAge, printJson, printLine, printTable, visible } from "../../output.ts";
import { isRelayed, lastTurnSecondsAgo, readRelays, type RelayEntry } from "../../relay/read-relays.ts";
import { bringsRail, deserted, waitingWords, wasServed, type RailStatus } from "../../relay/unserved.ts";

export function registerStatus(outbox: Command): void {
  addCommon(
    outbox
      .command("status")
      .description("show what waits, is being sent and is dead in each stream; the relays; destinations in trouble"),
  ).action(runStatus);
}

type StreamStatus = FunctionResult<"outbox.status">[number];
type DestinationStatus = FunctionResult<"webhooks.destination_status">[number];

interface Status {
  readonly streams: readonly StreamStatus[];
  readonly relays: readonly RelayEntry[];
  readonly rails: readonly RailStatus[];
  readonly destinations: readonly DestinationStatus[];
}

async function runStatus(options: CommonOptions): Promise<void> {
  const status = await withDatabase(options, "outbox status", readStatus);
  if (options.json === true) printJson(toJson(status));
  else show(status);
}

async function readStatus(client: Client): Promise<Status> {
  return {
    streams: await call(client, "outbox.status", {}),
    relays: await readRelays(client),
    rails: await call(client, "outbox.rail_status", {}),
    destinations: await call(client, "webhooks.destination_status", {}),
  };
}

function toJson({ streams, relays, rails, destinations }: Status) {
  return {
    streams: streams.map((row) => ({
      stream: row.stream,
      ordered: row.ordered,
      pending: row.pending,
      due: row.due,
      inFlight: row.in_flight,
      retrying: row.retrying,
      dead: row.dead,
      parked: row.parked,
      blockedLanes: row.blocked_lanes,
      activeLanes: row.lanes,
      oldestPendingAgeSeconds: row.oldest_pending_age_seconds,
      stuck: row.stuck,
      estimated: row.estimated,
    })),
    relays,
    rails: rails.map((row) => ({
      rail: row.rail,
      waiting: row.waiting,
      served: wasServed(row),
      servedSecondsAgo: row.served_seconds_ago,
    })),
    destinations: destinations.map((row) => ({
      destination: row.destination,
      endpoint: row.endpoint,
      circuit: row.circuit,
      failures: row.failures,
      openUntil: row.open_until,
      minIntervalMs: row.min_interval_ms,
      nextSlotAt: row.next_slot_at,
      lastErrorCode: row.last_error_code,
      disabledCode: row.disabled_code,
      disabledAt: row.disabled_at,
    })),
  };
}

function show({ streams, relays, rails, destinations }: Status): void {
  printTable(streams, [
    { title: "STREAM", value: (row) => row.stream },
    { title: "ORDER", value: (row) => (row.ordered ? "per key" : "none") },
    { title: "PENDING", value: (row) => about(row, row.pending), align: "right" },
    { title: "DUE", value: (row) => about(row, row.due), align: "right" },
    { title: "IN FLIGHT", value: (row) => row.in_flight, align: "right" },
    { title: "RETRYING", value: (row) => about(row, row.retrying), align: "right" },
    { title: "OLDEST", value: (row) => formatAge(row.oldest_pending_age_seconds), align: "right" },
    { title: "STUCK", value: (row) => row.stuck, align: "right" },
    { title: "BLOCKED", value: (row) => row.blocked_lanes, align: "right" },
    { title: "DEAD", value: (row) => row.dead, align: "right" },
    { title: "PARKED", value: (row) => row.parked, align: "right" },
  ]);
  const troubled = destinations.filter(
    (row) => row.circuit !== "closed" || row.next_slot_at !== null || row.disabled_code !== null,
  );
  if (troubled.length > 0) {
    printLine();
    printTable(troubled, [
      { title: "DESTINATION", value: (row) => row.endpoint ?? row.destination },
      {
        title: "CIRCUIT",
        value: (row) => (row.disabled_code === null ? row.circuit : `disabled (${row.disabled_code})`),
      },
      { title: "FAILURES", value: (row) => row.failures, align: "right" },
      { title: "OPEN UNTIL", value: (row) => row.open_until },
      { title: "NEXT SEND", value: (row) => row.next_slot_at },
      { title: "LAST ERROR", value: (row) => row.last_error_code },
    ]);
  }
  printLine();
  showRelays(relays);
  advise(streams, relays, rails);
  for (const { endpoint } of destinations.filter((row) => row.disabled_code !== null)) {
    printLine(`Endpoint ${visible(endpoint ?? "")} is disabled: headroom endpoint list, then headroom endpoint enable`);
  }
}

function showRelays(relays: readonly RelayEntry[]): void {
  if (!relays.some(({ alive, onDemand }) => alive && !onDemand)) printLine(onDemandWords(relays));
  if (relays.length === 0) return;
  printTable(relays, [
    { title: "RELAY", value: (row) => row.name },
    { title: "ID", value: (row) => row.relayId, align: "right" },
    { title: "STARTED", value: (row) => row.startedAt },
    { title: "SEEN", value: (row) => `${formatAge(row.seenSecondsAgo)} ago`, align: "right" },
    { title: "STATE", value: stateOf },
    { title: "RAILS", value: (row) => row.rails?.join(", ") },
  ]);
}

function onDemandWords(relays: readonly RelayEntry[]): string {
  const seconds = lastTurnSecondsAgo(relays);
  if (seconds === undefined) return "No relay is running.";
  const when = isRelayed(relays) ? "delivers" : "delivered";
  return `No relay process is running. A relay on demand ${when}: its last turn was ${formatAge(seconds)} ago.`;
}

function stateOf({ alive, onDemand, endedAt }: RelayEntry): string {
  if (endedAt !== null) return "turn ended";
  if (!alive) return "silent";
  return onDemand ? "in a turn" : "alive";
}

/** Marked as an estimate if there are too many rows to count. */
function about({ estimated }: StreamStatus, count: number): number | string {
  return estimated ? `~${count}` : count;
}

/** One line for each thing that needs a person. */
function advise(streams: readonly StreamStatus[], relays: readonly RelayEntry[], rails: readonly RailStatus[]): void {
  const sum = (value: (row: StreamStatus) => number): number => streams.reduce((total, row) => total + value(row), 0);
  const advice: string[] = [];
  if (!isRelayed(relays) && sum((row) => row.pending) > 0) {
    const stopped = lastTurnSecondsAgo(relays) !== undefined;
    advice.push(
      stopped
        ? "Rows are waiting, but nothing calls the relay route. Call it every minute, or start a relay: headroom relay"
        : "Rows are waiting, but no relay is running. Start one: headroom relay",
    );
  }
  for (const row of isRelayed(relays) ? deserted(rails) : []) {
    advice.push(`${waitingWords([row])}, which no relay serves. Start one that does: ${bringsRail(row.rail)}`);
  }
  if (sum((row) => row.stuck) > 0) {
    advice.push("Rows are held under expired leases; a running relay takes them back within seconds.");
  }
  if (sum((row) => row.parked) > 0) advice.push("Parked rows wait for a person: headroom outbox dead --parked");
  if (sum((row) => row.dead - row.parked) > 0) {
    advice.push("There are dead letters: headroom outbox dead, then headroom outbox redrive or skip");
  }
  if (advice.length > 0) printLine();
  for (const line of advice) printLine(line);
}
