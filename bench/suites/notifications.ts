/**
 * Notifies a thousand people by three channels: at a steady rate, and with a hundred thousand messages at once. Arrivals are counted at the
 * receiver.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startShares } from "../notifications/cpu.ts";
import { personOf } from "../notifications/sandbox.ts";
import { openStage, type Stage } from "../notifications/stage.ts";
import { nowMs, percentile, round } from "../measure.ts";
import type { Suite } from "./suite.ts";

const CHANNELS = ["in-app", "email", "slack"];
const CONNECTIONS = 8;

export const notificationsSuite: Suite = async ({ params, emit, log }) => {
  const people = params.number("people");
  const seconds = params.number("seconds");
  const perSecond = params.number("perSecond");
  const backlog = params.number("backlog");
  /** A message that has not arrived by then is lost. */
  const boxMs = params.number("drainMs");
  const stage = await openStage(people, params.number("relays"), CONNECTIONS);
  try {
    await tellSteadily(stage, { prefix: "warm", people, perSecond: perSecond / 3, seconds: 3 });
    await arrived(stage, Math.round((perSecond / 3) * 3) * 2, boxMs);
    let before = await stage.sandbox.count();

    await stage.resetStatements();
    const shares = startShares(stage.meters);
    const steady = await tellSteadily(stage, { prefix: "steady", people, perSecond: perSecond / 3, seconds });
    const late = before + steady.told * 2 - (await stage.sandbox.count());
    const tailMs = await arrived(stage, before + steady.told * 2, boxMs);
    const limits = { ...shares(), statements: await topStatements(stage) };
    const counted = await count(stage, "steady");
    emit({
      measure: "notifications/steady",
      who: "headroom",
      variant: `${people} people, three channels, ${seconds} s`,
      value: round(((steady.told * 3 - late) * 1_000) / steady.tookMs),
      unit: "deliveries/s",
      details: { ...counted, late, tailMs: round(tailMs), callP95Ms: steady.callP95Ms, ...limits },
    });
    log(JSON.stringify({ ...counted, ...limits }));

    if (backlog === 0) return;
    before = await stage.sandbox.count();
    await stage.resetStatements();
    const drainShares = startShares(stage.meters);
    const startedAtMs = nowMs();
    const told = Math.ceil(backlog / 2);
    await tellAtOnce(stage, { prefix: "queued", people, told });
    const queuedMs = nowMs() - startedAtMs;
    const drainMs = await arrived(stage, before + told * 2, boxMs);
    const drainLimits = { ...drainShares(), statements: await topStatements(stage) };
    const drained = await count(stage, "queued");
    emit({
      measure: "notifications/backlog",
      who: "headroom",
      variant: `${told * 2} messages queued at once`,
      value: round((told * 2 * 1_000) / (queuedMs + drainMs)),
      unit: "messages/s",
      details: { ...drained, queuedMs: round(queuedMs), drainMs: round(drainMs), ...drainLimits },
    });
    log(JSON.stringify({ ...drained, ...drainLimits }));
  } finally {
    await stage.close();
  }
};

/** Which statements took the most time, how often they were called, and how long one took. */
async function topStatements(stage: Stage): Promise<string> {
  const statements = await stage.statements();
  return statements.map(({ query, calls, mean_ms: mean }) => `${calls} × ${mean} ms ${query}`).join("\n");
}

interface Load {
  readonly prefix: string;
  readonly people: number;
}

/** Notifies each person in turn at the given rate, each in its own transaction. If it falls behind, it continues as fast as it can. */
async function tellSteadily(
  stage: Stage,
  load: Load & { readonly perSecond: number; readonly seconds: number },
): Promise<{ told: number; tookMs: number; callP95Ms: number }> {
  const { prefix, people, perSecond, seconds } = load;
  const told = Math.round(perSecond * seconds);
  const took: number[] = [];
  const startedAtMs = nowMs();
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let number = next++; number < told; number = next++) {
      const waitMs = startedAtMs + (number * 1_000) / perSecond - nowMs();
      if (waitMs > 0) await sleep(waitMs);
      const calledAtMs = nowMs();
      await stage.pool.query({
        name: "notify",
        text: "select public.notify('default', $1, $2, $2, $3, 'https://headroom.example/requests/CR-1', $4)",
        values: [personOf(1 + (number % people)).memberId, `${prefix}-${number}`, body, CHANNELS],
      });
      took.push(nowMs() - calledAtMs);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  return { told, tookMs: nowMs() - startedAtMs, callP95Ms: round(percentile(took, 95), 1) };
}

const body =
  "The capacity that you asked for is there. It was provided as you wanted it, and is yours until the end of the month.";

const chunk = 250;

async function tellAtOnce(stage: Stage, { prefix, people, told }: Load & { readonly told: number }): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let from = next; from < told; from = next) {
      next += chunk;
      await stage.pool.query(
        `select count(public.notify('default', 'm' || 1 + i % $1, $2 || '-' || i, $2 || '-' || i, $3, 'https://headroom.example/requests/CR-1', $4))
           from generate_series($5::integer, $6::integer) i`,
        [people, prefix, body, CHANNELS, from, Math.min(from + chunk, told) - 1],
      );
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
}

/** Waits until this much has arrived in total; returns how long that took. */
async function arrived(stage: Stage, wanted: number, boxMs: number): Promise<number> {
  const startedAtMs = nowMs();
  while ((await stage.sandbox.count()) < wanted && nowMs() - startedAtMs < boxMs) await sleep(100);
  return nowMs() - startedAtMs;
}

/** The notifications, their outcome by channel, and how long each took. */
async function count(stage: Stage, prefix: string) {
  const { rows } = await stage.pool.query<{ title: string; at: number; inbox: number }>(
    `select n.title, extract(epoch from n.created_at)::float8 * 1000 as at,
            (select count(*)::integer from notify.shown s where s.notification_id = n.id) as inbox
       from notify.notifications n where n.idempotency_key like $1 || '-%'`,
    [prefix],
  );
  const toldAt = new Map(rows.map(({ title, at }) => [title, at]));
  const arrivals = await stage.sandbox.arrivals();
  const figures: Record<string, number> = { told: rows.length };
  figures["in-app"] = rows.filter(({ inbox }) => inbox === 1).length;
  figures["in-app doubled"] = rows.length - toldAt.size + rows.filter(({ inbox }) => inbox > 1).length;
  for (const channel of ["email", "slack"] as const) {
    const own = arrivals[channel].filter(({ title }) => toldAt.has(title));
    const kinds = new Set(own.map(({ title }) => title)).size;
    const waits = own.map(({ title, atMs }) => atMs - (toldAt.get(title) ?? 0));
    figures[channel] = kinds;
    figures[`${channel} lost`] = rows.length - kinds;
    figures[`${channel} doubled`] = own.length - kinds;
    figures[`${channel} p50Ms`] = round(percentile(waits, 50));
    figures[`${channel} p95Ms`] = round(percentile(waits, 95));
  }
  return figures;
}
