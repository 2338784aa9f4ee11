/**
 * The cost of a change: enqueue, claim, settle, wake and decide of the working tree and of an earlier commit, in turn, in one run. The
 * measure is CPU time for each row, of the database and the process that calls it, which other programs on the machine affect least.
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
/** The first round includes compiling and planning. */
const UNCOUNTED_ROUNDS = 1;
const TICK_MS = 10;

export interface GuardRow {
  readonly phase: Phase;
  /** CPU time per row, in microseconds. */
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
}

const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)("git", args, { cwd: ROOT })).stdout.trim();

/** CPU time of a process, and with `withEnded` of its children that have ended. */
async function cpuOf(pid: number, withEnded = false): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // Parsed after the name, which may contain spaces: utime, stime, cutime and cstime are fields 14 to 17 of the line.
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

/** `undo` stops everything that it has started, also if the rest fails. */
async function openSide(checkout: string, undo: AsyncDisposableStack): Promise<Side> {
  const server = await startEmbedded({ ephemeral: true, settings: { autovacuum: false } });
  undo.defer(() => server.stop());
  const child = fork(SIDE, [checkout, server.urlFor("postgres")], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  undo.defer(() => void child.kill());
  await answerOf(child);
  return {
    async measure(request) {
      const before = await cpuOfServer(server.pid);
      child.send(request);
      const { units, cpuMs } = await answerOf<PhaseAnswer>(child);
      return ((cpuMs + (await cpuOfServer(server.pid)) - before) * 1_000) / units;
    },
  };
}

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onEnd = (): void => reject(new Error("a side ended before it was done; see its output above"));
    child.once("close", onEnd);
    child.once("message", (answer: T) => {
      child.off("close", onEnd);
      resolve(answer);
    });
  });
}

/** The remote's main branch, or the local one; if the working tree is exactly that commit, the one before it. */
async function lastLanded(): Promise<string> {
  const exists = (name: string): Promise<boolean> =>
    git("rev-parse", "--verify", "--quiet", `${name}^{commit}`).then(
      () => true,
      () => false,
    );
  const landed = (await exists("origin/main")) ? "origin/main" : (await exists("main")) ? "main" : "HEAD";
  const isChanged = (await git("diff", "--name-only", landed)) !== "";
  return isChanged || !(await exists(`${landed}~1`)) ? landed : `${landed}~1`;
}

/** Compares the working tree with a commit; '' means the last landed one. */
export async function guard(named: string, log: (line: string) => void): Promise<GuardReport> {
  await using undo = new AsyncDisposableStack();
  const name = named === "" ? await lastLanded() : named;
  const commit = await git("rev-parse", "--short", `${name}^{commit}`);
  const base = commit === name ? commit : `${name} (${commit})`;
  log(`the working tree compared with ${base}`);
  const folder = await mkdtemp(join(tmpdir(), "headroom-guard-"));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const checkout = join(folder, "base");
  await git("worktree", "add", "--detach", checkout, commit);
  undo.defer(async () => void (await git("worktree", "remove", "--force", checkout)));
  await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  const startedAtMs = nowMs();
  const sides = [await openSide(checkout, undo), await openSide(ROOT, undo)];
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
  return { base, rounds: rounds - UNCOUNTED_ROUNDS, rows };
}

/** A higher ratio has to be reported and explained in the change. */
const MAX_RATIO = 1.1;

export const slowerRows = ({ rows }: GuardReport): readonly GuardRow[] => rows.filter(({ ratio }) => ratio > MAX_RATIO);

const line = (...cells: readonly string[]): string =>
  cells
    .map((cell, column) => (column === 0 ? cell.padEnd(18) : cell.padStart(12)))
    .join("")
    .trimEnd();

export function renderGuard(report: GuardReport): string {
  const slower = slowerRows(report);
  const told = slower.map(({ phase, ratio }) => `${phase} by ${Math.round((ratio - 1) * 100)} %`).join(", ");
  return [
    `CPU time for each row in microseconds, median of ${report.rounds} rounds, compared with ${report.base}`,
    line("", "before", "now", "ratio"),
    ...report.rows.map((row) =>
      line(
        row.phase,
        row.before.toFixed(1),
        row.now.toFixed(1),
        row.ratio.toFixed(2),
        slower.includes(row) ? "SLOWER" : "",
      ),
    ),
    slower.length === 0
      ? "Nothing costs over 10 % more."
      : `More than 10 % slower: ${told}. Explain this in the change.`,
    "",
  ].join("\n");
}
