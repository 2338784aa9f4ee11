/** Kills parts of the product in the middle of their work. */
import type { Pool } from "pg";
import { startPart } from "../../kit/part-process.ts";
import { ownCodeDir } from "../../kit/patch.ts";
import type { RelayTrap } from "../../kit/relay-part.ts";

/** Within this time a relay with a trap has reached it, or had nothing to do. */
const trapMs = 5_000;

interface Doomed {
  readonly connectionString: string;
  readonly stripeUrl: string;
  readonly stripeKey: string;
  readonly trap: RelayTrap;
}

/** A relay as a separate process, which kills itself during a call; returns its number when it has ended. */
export async function dieAtStep(config: Doomed): Promise<number> {
  const relay = await startPart(ownCodeDir, "payments/relay-child.ts", {
    ...config,
    worksUrl: "http://127.0.0.1:9",
  });
  const timeout = setTimeout(() => void relay.kill(), trapMs);
  await relay.gone;
  clearTimeout(timeout);
  return relay.ready;
}

/** Cuts off the sweep after all its work and before its commit. */
export async function cutOffSweep(pool: Pool): Promise<void> {
  const client = await pool.connect();
  client.on("error", () => undefined);
  try {
    await client.query("begin");
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    await client.query("select public.run_capacity_request_timers(400)");
    await pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
  } finally {
    client.release(true);
  }
}
