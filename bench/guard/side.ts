/**
 * One side of the comparison: runs each request with the code of the given checkout and with the benchmark adapter of
 * that checkout. Started by guard.ts, which also counts the cost of the database's processes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import type * as Approvals from "../approvals.ts";
import type * as Headroom from "../contenders/headroom.ts";
import { makeBody } from "../workload.ts";
import type { PhaseAnswer, PhaseRequest } from "./protocol.ts";

const KEYS = 1_000;
const SINGLES = 800;
const PER_CALL = 1_000;
const CALLS = 6;
const WAKES = 60;
const WAKE_GAP_MS = 15;
const DECISIONS = 200;
/** Requests that can be decided; guard.ts runs no more rounds than these allow. */
export const MAX_ROUNDS = 12;
const AT_ONCE = 8;
const BOX_MS = 60_000;

async function openSide(
  checkout: string,
  url: string,
): Promise<Record<PhaseRequest["phase"], (round: number) => Promise<number>>> {
  const load = <T>(path: string): Promise<T> => import(pathToFileURL(join(checkout, "bench", path)).href) as Promise<T>;
  const { openHeadroom } = await load<typeof Headroom>("contenders/headroom.ts");
  const { copyRequest, prepareWorkspace, submitDelivered } = await load<typeof Approvals>("approvals.ts");
  const contender = await openHeadroom({ url, keys: KEYS });
  const client = new Client(url);
  await client.connect();
  await prepareWorkspace(client);
  await copyRequest(client, await submitDelivered(client, url), MAX_ROUNDS * DECISIONS);
  let next = 0;
  const bodies = (count: number) => Array.from({ length: count }, () => makeBody(next++, "none", KEYS));
  return {
    async enqueue() {
      const waiting = bodies(SINGLES);
      const worker = async (): Promise<void> => {
        for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) await contender.enqueueOne(body);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      return SINGLES;
    },
    async "enqueue many"() {
      for (let call = 0; call < CALLS; call += 1) await contender.enqueueMany(bodies(PER_CALL));
      return CALLS * PER_CALL;
    },
    async "claim and settle"() {
      const target = SINGLES + CALLS * PER_CALL;
      const { complete } = await contender.drain("default", { target, until: "target", boxMs: BOX_MS });
      if (!complete) throw new Error("the rows were not delivered in time");
      return target;
    },
    async wake() {
      let handled: (() => void) | undefined;
      const listener = await contender.listen(() => handled?.());
      for (const body of bodies(WAKES)) {
        await sleep(WAKE_GAP_MS);
        const woken = new Promise<void>((resolve) => (handled = resolve));
        await contender.enqueueOne(body);
        await woken;
      }
      await listener.stop();
      return WAKES;
    },
    async decide(round) {
      for (let n = 1; n <= DECISIONS; n += 1) {
        const id = `CR-2000-${String(round * DECISIONS + n).padStart(6, "0")}`;
        await client.query("select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'bob')", [id]);
      }
      return DECISIONS;
    },
    async vacuum() {
      await client.query("vacuum analyze");
      return 1;
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const [checkout = "", url = ""] = process.argv.slice(2);
  const phases = await openSide(checkout, url);
  const answer = async ({ phase, round }: PhaseRequest): Promise<void> => {
    const before = process.cpuUsage();
    const units = await phases[phase](round);
    const { user, system } = process.cpuUsage(before);
    const said: PhaseAnswer = { units, cpuMs: (user + system) / 1_000 };
    process.send?.(said);
  };
  process.on("message", (request: PhaseRequest) => void answer(request));
  process.send?.("ready");
}
