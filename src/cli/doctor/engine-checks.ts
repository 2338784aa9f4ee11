/** Is the engine alive: partitions ahead, relays, rails, and nothing waiting for too long? */
import type { Client } from "pg";
import { call, type FunctionResult } from "../../db/call.ts";
import { formatAge } from "../output.ts";
import { readRelays } from "../relays.ts";
import { failure, ok, warning, type Finding } from "./check.ts";

export async function checkEngine(client: Client): Promise<Finding[]> {
  const streams = await call(client, "outbox.status", {});
  return [
    await partitionsFinding(client),
    await relaysFinding(client, streams),
    await railsFinding(client),
    pendingFinding(streams),
    stuckFinding(streams),
    deadFinding(streams),
    await destinationsFinding(client),
  ];
}

type StreamStatus = FunctionResult<"outbox.status">[number];

const fewDaysAhead = 7;

async function partitionsFinding(client: Client): Promise<Finding> {
  const classes = await call(client, "outbox.partition_status", {});
  const remedy = "Start a relay (it makes them), or run: select outbox.ensure_partitions()";
  const least = classes.toSorted((left, right) => left.days_ahead - right.days_ahead)[0];
  if (least === undefined) return failure("partitions", "There are no retention classes.", "Run: headroom migrate");
  if (least.days_ahead <= 0) {
    return failure(
      "partitions",
      `The archive of class "${least.class}" has no partition for today: claims stop.`,
      remedy,
    );
  }
  const days = Math.floor(least.days_ahead);
  if (days < fewDaysAhead)
    return warning("partitions", `Class "${least.class}" is covered for ${days} more days.`, remedy);
  return ok("partitions", `The archive is covered for ${days} days ahead.`);
}

async function relaysFinding(client: Client, streams: readonly StreamStatus[]): Promise<Finding> {
  const relays = await readRelays(client);
  const alive = relays.filter((relay) => relay.alive);
  if (alive.length > 0) {
    return ok("relays", `${alive.length} alive: ${alive.map((relay) => relay.name).join(", ")}.`);
  }
  const waiting = streams.reduce((sum, row) => sum + row.pending, 0);
  const message =
    relays.length > 0 ? "Relays are listed, but none has shown a sign of life lately." : "No relay is running.";
  const say = waiting > 0 ? failure : warning;
  return say("relays", waiting > 0 ? `${message} ${waiting} rows are waiting.` : message, "Start one: headroom relay");
}

async function railsFinding(client: Client): Promise<Finding> {
  const result = await client.query<{ name: string; capability: string }>(
    "select name, capability from outbox.rails order by name",
  );
  if (result.rows.length > 0) {
    return ok("rails", `Declared: ${result.rows.map((row) => `${row.name} (${row.capability})`).join(", ")}.`);
  }
  return warning(
    "rails",
    "No rail is declared, so nothing can be enqueued.",
    "Start a relay that has rails (headroom relay --rails, --endpoints), or declare one: select outbox.register_rail(…)",
  );
}

const oldAfterSeconds = 300;

function pendingFinding(streams: readonly StreamStatus[]): Finding {
  const waiting = streams.filter((row) => row.pending > 0);
  const old = waiting.filter((row) => row.oldest_pending_age_seconds > oldAfterSeconds);
  const total = waiting.reduce((sum, row) => sum + row.pending, 0);
  if (old.length === 0)
    return ok("pending", total === 0 ? "Nothing is waiting." : `${total} rows are waiting, none for long.`);
  const worst = old.map((row) => `${row.stream} ${formatAge(row.oldest_pending_age_seconds)}`).join(", ");
  return warning(
    "pending",
    `Rows have been waiting for long: ${worst}.`,
    "See headroom outbox status: no relay, a blocked key, retries against a failing receiver, or an open circuit?",
  );
}

function stuckFinding(streams: readonly StreamStatus[]): Finding {
  const stuck = streams.reduce((sum, row) => sum + row.stuck, 0);
  if (stuck === 0) return ok("leases", "No lease has run out unnoticed.");
  return warning(
    "leases",
    `${stuck} rows are in flight although their lease is over.`,
    "A running relay takes them back every 15 s. If the number stays, look at its log.",
  );
}

function deadFinding(streams: readonly StreamStatus[]): Finding {
  const sum = (value: (row: StreamStatus) => number): number => streams.reduce((total, row) => total + value(row), 0);
  const [dead, parked, blocked] = [sum((row) => row.dead), sum((row) => row.parked), sum((row) => row.blocked_lanes)];
  if (dead === 0) return ok("dead letters", "None.");
  const message =
    (dead === 1 ? "1 dead letter" : `${dead} dead letters`) +
    `, ${parked} of them parked; ${blocked === 1 ? "1 key is" : `${blocked} keys are`} blocked.`;
  return warning("dead letters", message, "headroom outbox dead lists them; then redrive, skip or resolve.");
}

async function destinationsFinding(client: Client): Promise<Finding> {
  const destinations = await call(client, "outbox.destination_status", {});
  const disabled = destinations.filter((row) => row.disabled_code !== null);
  if (disabled.length > 0) {
    return warning(
      "destinations",
      `Disabled endpoints: ${disabled.map((row) => `${row.destination} (${row.disabled_code})`).join(", ")}.`,
      "Nothing is sent to them. When their receivers are mended: headroom endpoint enable <name>.",
    );
  }
  const open = destinations.filter((row) => row.circuit !== "closed");
  if (open.length === 0) return ok("destinations", `${destinations.length} known, every circuit closed.`);
  return warning(
    "destinations",
    `Circuits not closed: ${open.map((row) => `${row.destination} (${row.last_error_code ?? row.circuit})`).join(", ")}.`,
    "The receivers failed repeatedly; they are probed by themselves. Look at the receivers.",
  );
}
