/** Processor time by user, from /proc: relays, the sandbox, the database and the producer. */
import { readdirSync, readFileSync } from "node:fs";

const MS_PER_TICK = 10;

interface Used {
  readonly parent: number;
  readonly own: number;
  /** Of children that have ended. */
  readonly children: number;
}

function read(pid: number): Used | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name is in brackets and may contain anything.
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const at = (index: number): number => fields[index] ?? 0;
    return {
      parent: at(1),
      own: (at(11) + at(12)) * MS_PER_TICK,
      children: (at(13) + at(14)) * MS_PER_TICK,
    };
  } catch {
    return null;
  }
}

/** A single process. */
export const processMs = (pid: number): number => read(pid)?.own ?? 0;

/** A server with all the processes that it has started. */
export function familyMs(pid: number): number {
  const head = read(pid);
  if (head === null) return 0;
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = pids.map((each) => read(Number(each))).filter((each) => each?.parent === pid);
  return children.reduce((sum, each) => sum + (each?.own ?? 0) + (each?.children ?? 0), head.own + head.children);
}

export type CpuShares = Readonly<Record<string, number>>;

/** Starts counting; returns how many cores each kept busy. */
export function startShares(meters: Readonly<Record<string, () => number>>): () => CpuShares {
  const startedAtMs = performance.now();
  const before = Object.entries(meters).map(([name, meter]) => [name, meter, meter()] as const);
  return () => {
    const tookMs = performance.now() - startedAtMs;
    return Object.fromEntries(
      before.map(([name, meter, start]) => [name, Math.round(((meter() - start) / tookMs) * 100) / 100]),
    );
  };
}
