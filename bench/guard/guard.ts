/**
 * What a change costs: enqueue, claim, settle, wake and decide of the working tree beside those of an earlier commit, in turn, in one run. The
 * measure is CPU time for each row, of the database and the process that calls it, which other programs of the machine change least.
 */
import { execFile, fork, type ChildProcess } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startEmbedded } from "../../src/db/embedded.ts";
import { median, nowMs, round } from "../measure.ts";
import { PHASES, VACUUM, type Phase, type PhaseAnswer, type PhaseRequest } from "./protocol.ts";
import { MAX_ROUNDS } from "./side.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SIDE = fileURLToPath(new URL("./side.ts", import.meta.url));
const RUN_MS = 165_000;
/** The first round compiles and plans. */
const UNCOUNTED_ROUNDS = 1;
const TICK_MS = 10;

export interface GuardRow {
  readonly phase: Phase;
  /** CPU time for one, in microseconds. */
  readonly before: number;
  readonly now: number;
  readonly ratio: number;
}

export interface GuardReport {
  readonly base: string;
  readonly rounds: number;
  readonly rows: readonly GuardRow[];
}

interface Side {
  measure(request: PhaseRequest): Promise<number>;
  stop(): Promise<void>;
}

const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)("git", args, { cwd: ROOT })).stdout.trim();

/** CPU time of a process, and with `withEnded` of its children that have ended. */
async function cpuOf(pid: number, withEnded = false): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // After the name, which may have spaces: utime, stime, cutime and cstime are fields 14 to 17 of all.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, withEnded ? 15 : 13);
  return fields.reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
}

async function cpuOfServer(postmaster: number): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const costs = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      return parent === postmaster ? cpuOf(Number(pid)) : 0;
    }),
  );
  return costs.reduce((sum, cost) => sum + cost, await cpuOf(postmaster, true));
}

async function openSide(checkout: string): Promise<Side> {
  const server = await startEmbedded({ ephemeral: true, settings: { autovacuum: false } });
  const child = fork(SIDE, [checkout, server.urlFor("postgres")], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await answerOf(child);
  return {
    async measure(request) {
      const before = await cpuOfServer(server.pid);
      child.send(request);
      const { units, cpuMs } = await answerOf<PhaseAnswer>(child);
      return ((cpuMs + (await cpuOfServer(server.pid)) - before) * 1_000) / units;
    },
    async stop() {
      child.kill();
      await server.stop();
    },
  };
}

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onEnd = (): void => reject(new Error("a side ended before it was done; what it said stands above"));
    child.once("close", onEnd);
    child.once("message", (answer: T) => {
      child.off("close", onEnd);
      resolve(answer);
    });
  });
}

/** `base` is a commit; the answer says how the working tree compares with it. */
export async function guard(base: string, log: (line: string) => void): Promise<GuardReport> {
  const folder = await mkdtemp(join(tmpdir(), "headroom-guard-"));
  const checkout = join(folder, "base");
  const commit = await git("rev-parse", "--short", `${base}^{commit}`);
  await git("worktree", "add", "--detach", checkout, commit);
  await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  const sides: Side[] = [];
  try {
    const startedAtMs = nowMs();
    for (const path of [checkout, ROOT]) sides.push(await openSide(path));
    const costs = new Map<Phase, [number[], number[]]>(PHASES.map((phase) => [phase, [[], []]]));
    let rounds = 0;
    let roundMs = 0;
    for (; rounds < MAX_ROUNDS && nowMs() + roundMs < startedAtMs + RUN_MS; rounds += 1) {
      const roundStartedAtMs = nowMs();
      for (const side of sides) await side.measure({ phase: VACUUM, round: rounds });
      for (const phase of PHASES) {
        for (const which of rounds % 2 === 0 ? [0, 1] : [1, 0]) {
          const cost = await sides[which]?.measure({ phase, round: rounds });
          if (cost !== undefined && rounds >= UNCOUNTED_ROUNDS) costs.get(phase)?.[which]?.push(cost);
        }
      }
      roundMs = nowMs() - roundStartedAtMs;
      log(`round ${rounds + 1}: ${(roundMs / 1_000).toFixed(1)} s`);
    }
    const rows = PHASES.map((phase): GuardRow => {
      const [before, now] = (costs.get(phase) ?? []).map(median);
      if (before === undefined || now === undefined) throw new Error(`${phase} was not measured`);
      return { phase, before: round(before, 1), now: round(now, 1), ratio: round(now / before, 2) };
    });
    return { base: commit, rounds: rounds - UNCOUNTED_ROUNDS, rows };
  } finally {
    for (const side of sides) await side.stop();
    await git("worktree", "remove", "--force", checkout);
    await rm(folder, { recursive: true, force: true });
  }
}

/** More than this has to be said and explained in the change. */
export const MAX_RATIO = 1.1;

const line = (...cells: readonly string[]): string =>
  cells.map((cell, column) => (column === 0 ? cell.padEnd(18) : cell.padStart(12))).join("");

export function renderGuard({ base, rounds, rows }: GuardReport): string {
  return [
    `CPU time for each row in microseconds, median of ${rounds} rounds`,
    line("", base, "now", "ratio"),
    ...rows.map(({ phase, before, now, ratio }) =>
      line(phase, String(before), String(now), ratio.toFixed(2), ratio > MAX_RATIO ? "SLOWER" : ""),
    ),
    "",
  ].join("\n");
}
