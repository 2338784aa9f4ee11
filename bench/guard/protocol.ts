/** The requests to a side, by IPC, and its answers. */
export const PHASES = ["enqueue", "enqueue many", "claim and settle", "wake", "decide"] as const;
export type Phase = (typeof PHASES)[number];

/** Between rounds and not counted: work that the server would do on its own at any time. */
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
