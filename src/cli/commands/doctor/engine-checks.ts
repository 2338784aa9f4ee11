/** Does the engine work: are there future partitions, relays, rails and endpoints, and does nothing wait for too long? */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { call, type FunctionResult } from "../../../db/call.ts";
import { listEndpoints } from "../../../webhooks/endpoints.ts";
import { formatAge } from "../../output.ts";
import { lastTurnSecondsAgo } from "../../relay/read-relays.ts";
import { bringsRail, deserted, waitingWords } from "../../relay/unserved.ts";
import { endSession, sessionWords } from "../../words/session-words.ts";
import { isInUse, isServed, listed, type Facts, type StreamStatus } from "./facts.ts";
import { askAsControl, failure, ifAllowed, ok, skipped, unlessRefused, warning, type Finding } from "./finding.ts";
import { lockedFinding } from "./workflow-checks.ts";

export async function checkEngine(client: Client, facts: Facts): Promise<Finding[]> {
  const { streams } = facts;
  return [
    await unlessRefused("partitions", partitionsFinding(client)),
    relaysFinding(facts),
    railsFinding(facts),
    grantsFinding(facts),
    settingsFinding(await call(client, "outbox.list_changed_settings", {})),
    ...(await endpointsFindings(client, facts)),
    pendingFinding(streams),
    stuckFinding(streams),
    deadFinding(streams),
    await unlessRefused("destinations", destinationsFinding(client)),
    await unlessRefused("locks", locksFinding(client)),
  ];
}

const fewDaysAhead = 7;

async function partitionsFinding(client: Client): Promise<Finding> {
  const classes = await call(client, "outbox.partition_status", {});
  const remedy = "Start a relay, which makes them, or run: select outbox.ensure_partitions()";
  const least = classes.toSorted((left, right) => left.days_ahead - right.days_ahead)[0];
  if (least === undefined) return failure("partitions", "There are no retention classes.", "Run: headroom migrate");
  if (least.days_ahead <= 0) {
    return failure(
      "partitions",
      `The archive of class "${least.class}" has no partition for today, so nothing can be sent.`,
      remedy,
    );
  }
  const days = Math.floor(least.days_ahead);
  if (days < fewDaysAhead)
    return warning(
      "partitions",
      `The archive of class "${least.class}" has partitions for only ${days} more days.`,
      remedy,
    );
  return ok("partitions", `The archive has partitions for the next ${days} days.`);
}

/** A relay process is listed while it runs, a relay on demand for some minutes after its turn; its rails keep the time of that turn. */
function relaysFinding(facts: Facts): Finding {
  const { rails, waiting } = facts;
  const relays = facts.relays.filter(({ onDemand }) => !onDemand);
  const alive = relays.filter((relay) => relay.alive);
  if (alive.length > 0) {
    return ok("relays", `${alive.length} alive: ${alive.map((relay) => relay.name).join(", ")}.`);
  }
  const served = rails.filter(({ rail }) => isServed(facts, rail));
  if (served.length > 0) {
    const seconds =
      lastTurnSecondsAgo(facts.relays) ?? Math.min(...served.map((row) => row.served_seconds_ago ?? Infinity));
    return ok("relays", `No relay process is running; a relay on demand was called ${formatAge(seconds)} ago.`);
  }
  const ago = Math.min(...rails.map((row) => row.served_seconds_ago ?? Infinity));
  const message =
    relays.length > 0
      ? "Relays are listed, but none has reported recently."
      : ago === Infinity
        ? "No relay is running."
        : `No relay is running; the last one was seen ${formatAge(ago)} ago.`;
  const report = waiting > 0 || isInUse(facts) ? failure : warning;
  const waits = waiting === 1 ? " 1 row is waiting." : waiting > 0 ? ` ${waiting} rows are waiting.` : "";
  return report(
    "relays",
    `${message}${waits}`,
    "Start one: headroom relay. Or call the relay route of headroom serve every minute (docs/operating, Relaying without a process).",
  );
}

function railsFinding(facts: Facts): Finding {
  const { rails, relays } = facts;
  if (rails.length === 0) {
    return warning(
      "rails",
      "No rail is declared, so nothing can be enqueued.",
      "Start a relay that has rails (headroom relay --rails, --endpoints), or declare one: select outbox.register_rail(…)",
    );
  }
  const declared = `Declared: ${rails.map((row) => `${row.rail} (${row.capability})`).join(", ")}.`;
  const left = deserted(rails);
  const [first] = left;
  if (first === undefined) return ok("rails", declared);
  // A relay of an older release does not record which rails it serves.
  const silent = relays.some((relay) => relay.alive && relay.rails === null);
  const report = silent ? warning : failure;
  return report(
    "rails",
    `${waitingWords(left)}, which no relay serves.`,
    `Start a relay that has it: ${bringsRail(first.rail)}`,
  );
}

function grantsFinding({ ungranted }: Facts): Finding {
  const [first] = ungranted;
  if (first === undefined) return ok("grants", "No row waits for the grant of a rail.");
  const rows = ungranted.map(
    ({ stream, rail, waiting }) =>
      `${waiting === 1 ? "1 row" : `${waiting} rows`} of stream "${stream}" on rail "${rail}"`,
  );
  return warning(
    "grants",
    `Rows wait for a grant, because their rail uses the installation's credentials: ${rows.join(", ")}.`,
    `See what it is: headroom outbox inspect ${first.oldest}. If every writer of the stream may use the rail: ` +
      `${ungranted.map((row) => row.grant_text).join("; ")}. If not: headroom outbox skip <id>`,
  );
}

type ChangedSetting = FunctionResult<"outbox.list_changed_settings">[number];

/** For information only: migrations keep settings that somebody changed, and do not report them. */
function settingsFinding(changed: readonly ChangedSetting[]): Finding {
  if (changed.length === 0) return ok("settings", "Streams, rails and limits are as this release registers them.");
  const words = changed.map(({ kind, name, setting, registered, value }) => {
    const [now, was] = [value, registered].map((each) => JSON.stringify(each));
    const by =
      kind === "rail"
        ? "declared by its relay"
        : setting === "lease_seconds"
          ? "set by you, or kept because relays were running"
          : "set by you";
    return `${kind} ${name}: ${setting} is ${now}, ${by} (registered: ${was})`;
  });
  const remedies = changed.map(({ kind, name, setting }) =>
    kind === "stream"
      ? `headroom outbox stream ${name} --reset ${setting.replaceAll("_", "-")}`
      : kind === "limit"
        ? `headroom outbox limit '${name}' --reset`
        : "restart the relays",
  );
  return {
    ...ok("settings", `${words.join("; ")}.`),
    remedy: `Migrations keep these. To restore the registered values: ${[...new Set(remedies)].join("; ")}`,
  };
}

async function endpointsFindings(client: Client, facts: Facts): Promise<Finding[]> {
  const endpoints = await ifAllowed(listEndpoints(client, { key: facts.secretKey }));
  if (endpoints === undefined) return [skipped("endpoints", "This login may not see the endpoints.", askAsControl)];
  const enabled = endpoints.filter((endpoint) => endpoint.enabled);
  const subscribed = facts.workspaces?.some((workspace) => workspace.subscribed) ?? false;
  if (enabled.length === 0 && !subscribed) return [ok("endpoints", "No webhook endpoint is in use.")];
  const locked = enabled.filter((endpoint) => !endpoint.readable);
  if (locked.length > 0) {
    const names = listed(locked.map(({ name }) => name));
    return [lockedFinding("endpoints", `the secrets of ${names}`, facts, "Nothing is sent to those endpoints.")];
  }
  if (!isServed(facts, "webhook")) {
    return [
      failure(
        "endpoints",
        "There are webhook endpoints, but no relay serves webhooks.",
        `Start one: ${bringsRail("webhook")}`,
      ),
    ];
  }
  return [ok("endpoints", `${enabled.length} enabled; their secrets can be read, and a relay serves them.`)];
}

const oldAfterSeconds = 300;

function pendingFinding(streams: readonly StreamStatus[]): Finding {
  const waiting = streams.filter((row) => row.pending > 0);
  const old = waiting.filter((row) => row.oldest_pending_age_seconds > oldAfterSeconds);
  const total = waiting.reduce((sum, row) => sum + row.pending, 0);
  if (old.length === 0)
    return ok(
      "pending",
      total === 0
        ? "Nothing is waiting."
        : total === 1
          ? "1 row is waiting, and not for long."
          : `${total} rows are waiting, none for long.`,
    );
  const worst = old.map((row) => `${row.stream} ${formatAge(row.oldest_pending_age_seconds)}`).join(", ");
  return warning(
    "pending",
    `Rows have been waiting for a long time: ${worst}.`,
    "Look for the cause in headroom outbox status: no relay, a blocked key, a failing receiver, or an open circuit.",
  );
}

function stuckFinding(streams: readonly StreamStatus[]): Finding {
  const stuck = streams.reduce((sum, row) => sum + row.stuck, 0);
  if (stuck === 0) return ok("leases", "No row is held under an expired lease.");
  return warning(
    "leases",
    `${stuck} rows are in flight although their lease has expired.`,
    "A running relay takes them back every 15 s. If the number does not fall, look at its log.",
  );
}

function deadFinding(streams: readonly StreamStatus[]): Finding {
  const sum = (value: (row: StreamStatus) => number): number => streams.reduce((total, row) => total + value(row), 0);
  const [dead, parked, blocked] = [sum((row) => row.dead), sum((row) => row.parked), sum((row) => row.blocked_lanes)];
  if (dead === 0) return ok("dead letters", "There are no dead letters.");
  const message =
    (dead === 1 ? "1 dead letter" : `${dead} dead letters`) +
    `, ${parked} of them parked; ${blocked === 1 ? "1 key is" : `${blocked} keys are`} blocked.`;
  return warning("dead letters", message, "headroom outbox dead lists them; then redrive, skip or resolve.");
}

async function destinationsFinding(client: Client): Promise<Finding> {
  const destinations = await call(client, "webhooks.destination_status", {});
  const disabled = destinations.filter((row) => row.disabled_code !== null);
  if (disabled.length > 0) {
    return warning(
      "destinations",
      `Disabled endpoints: ${disabled.map((row) => `${row.destination} (${row.disabled_code})`).join(", ")}.`,
      "Nothing is sent to them. Once their receivers work again: headroom endpoint enable <name>.",
    );
  }
  const open = destinations.filter((row) => row.circuit !== "closed");
  if (open.length === 0) return ok("destinations", `${destinations.length} known, all circuits closed.`);
  return warning(
    "destinations",
    `Circuits not closed: ${open.map((row) => `${row.destination} (${row.last_error_code ?? row.circuit})`).join(", ")}.`,
    "The receivers failed repeatedly. Look at them; they are tried again automatically.",
  );
}

type HeldLock = FunctionResult<"outbox.held_locks">[number];

/** A relay holds its locks for milliseconds. A transaction that both of two checks find was open all the time between them. */
const betweenLooksMs = 1000;

async function locksFinding(client: Client): Promise<Finding> {
  const first = await call(client, "outbox.held_locks", {});
  if (first.length > 0) await delay(betweenLooksMs);
  const second = first.length > 0 ? await call(client, "outbox.held_locks", {}) : [];
  const held = second.filter((now) =>
    first.some((then) => then.pid === now.pid && then.transaction === now.transaction),
  );
  const [worst] = held.toSorted((left, right) => right.waiting - left.waiting);
  if (worst === undefined) return ok("locks", "No session holds up relays, timers or other sessions.");
  return warning(
    "locks",
    held.map(heldWords).join(" "),
    `Unless it is still working, end it, as its own login or a superuser: ${endSession(worst.pid)}`,
  );
}

function heldWords(held: HeldLock): string {
  const since = held.since === null ? "" : ` since ${held.since.toISOString()}`;
  const state = held.state === null ? "" : ` (${held.state})`;
  const named = [
    ...held.turns.map((name) => `the turn ${name}`),
    ...held.destinations.map((name) => `the destination ${name}`),
  ];
  const things = named.length > 0 ? named : held.tables.map((name) => `rows of ${name}`);
  const holds = things.length === 0 ? "" : ` It has locked ${listed(things)}, which no other session can use.`;
  const from = held.waiting_since === null ? "" : `, the first since ${held.waiting_since.toISOString()}`;
  const sessions = held.waiting === 1 ? "1 session waits" : `${held.waiting} sessions wait`;
  const waits = held.waiting === 0 ? "" : ` ${sessions} for it${from}.`;
  return `${sessionWords(held)} has a transaction open${since}${state}.${holds}${waits}`;
}
