/** What a side is asked for, by IPC, and what it answers. */
export const PHASES = ["enqueue", "enqueue many", "claim and settle", "wake", "decide"] as const;
export type Phase = (typeof PHASES)[number];

/** Between rounds and not counted: what the server would do by itself, at a time of its own. */
export const VACUUM = "vacuum";

export interface PhaseRequest {
  readonly phase: Phase | typeof VACUUM;
  readonly round: number;
}

export interface PhaseAnswer {
  /** Rows, wakes or decisions. */
  readonly units: number;
  /** CPU time of the side's own process. */
  readonly cpuMs: number;
}
