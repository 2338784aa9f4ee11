/** How fast the machine is right now: two numbers that tell runs under different noise apart. */
import { createHash } from "node:crypto";
import { Client } from "pg";
import { nowMs, round } from "./measure.ts";

const HASHED_MIB = 100;
const COMMITS = 200;

export interface Calibration {
  /** Hashing 100 MiB, in ms: the processor. */
  readonly hashMs: number;
  /** One INSERT in its own transaction, in ms: the disk. */
  readonly commitMs: number;
}

export async function calibrate(adminUrl: string): Promise<Calibration> {
  const block = Buffer.alloc(1 << 20, 7);
  const hashStartedAtMs = nowMs();
  for (let i = 0; i < HASHED_MIB; i += 1) createHash("sha256").update(block).digest();
  const hashMs = round(nowMs() - hashStartedAtMs);

  const client = new Client(adminUrl);
  await client.connect();
  try {
    await client.query("create table if not exists bench_calibration (id bigint generated always as identity, v text)");
    const commitsStartedAtMs = nowMs();
    for (let i = 0; i < COMMITS; i += 1) await client.query("insert into bench_calibration (v) values ('x')");
    const commitMs = round((nowMs() - commitsStartedAtMs) / COMMITS, 3);
    await client.query("drop table bench_calibration");
    return { hashMs, commitMs };
  } finally {
    await client.end();
  }
}
