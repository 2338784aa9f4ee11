/**
 * What a rail must be connected to so that the conformance suite can test it.
 *
 * Owns: the interface between the suite and a sandbox. Does not own: any sandbox.
 */
import type { Rail, RailCapability, RailMessage } from "../rail.ts";

/** How a sandbox can be told to treat the next call. */
export type SandboxFault =
  /** Refuses permanently; nothing happens (HTTP: 400). */
  | "refuse"
  /** Refuses and repeats everything that it was sent, secrets included. */
  | "refuse_echoing"
  /** Asks for a pause of `throttleAfterMs`; nothing happens (HTTP: 429). */
  | "throttle"
  /** Fails before doing anything (HTTP: 500). */
  | "fail"
  /** Does it and never answers. */
  | "hang"
  /** Cannot be reached at all. */
  | "unreachable"
  /** Hangs up as soon as it is called; nothing happens. */
  | "close_before_read"
  /** Does it, then says that it failed (HTTP: 500). */
  | "fail_after_accept"
  /** Does it, then hangs up without an answer. */
  | "drop_after_accept"
  /** Does it, then hangs up in the middle of its answer. */
  | "close_mid_answer"
  /** Does it, and answers normally only when `release` is called. */
  | "answer_late"
  /** Does it, and answers with something that makes no sense. */
  | "garbage";

export const sandboxFaults: readonly SandboxFault[] = [
  "refuse",
  "refuse_echoing",
  "throttle",
  "fail",
  "hang",
  "unreachable",
  "close_before_read",
  "fail_after_accept",
  "drop_after_accept",
  "close_mid_answer",
  "answer_late",
  "garbage",
];

/** A rail wired to a sandbox that counts what it sees. One is opened for each case. */
export interface RailHarness {
  readonly rail: Rail;
  /** How long a case waits for an expected event before it treats the rail as stuck. Default: 10,000. */
  readonly patienceMs?: number;
  /** The pause that the sandbox asks for when it throttles. */
  readonly throttleAfterMs: number;
  /** Everything that must never appear in an outcome. */
  readonly secrets: readonly string[];
  /** A new, valid message. */
  message(): RailMessage;
  /** Messages that `validate` must refuse; empty only for a rail that takes any payload. */
  invalidMessages(): readonly RailMessage[];
  /** Decides how the next call is treated; later calls are treated normally again. */
  next(fault: SandboxFault): void | Promise<void>;
  /** Resolves once the sandbox has received a call for this message. */
  received(message: RailMessage): Promise<void>;
  /** Sends the answers that `answer_late` held back. */
  release(): void | Promise<void>;
  /** How many calls for this message arrived. */
  calls(message: RailMessage): number | Promise<number>;
  /**
   * How many effects this message had. Counted by its payload and not by the key that was sent: otherwise a rail that makes
   * a new key for each try would go unnoticed.
   */
  effects(message: RailMessage): number | Promise<number>;
  close(): void | Promise<void>;
}

export interface ConformancePlan {
  /** The rail's declared capability, which decides which cases apply. */
  readonly capability: RailCapability;
  open(): RailHarness | Promise<RailHarness>;
  /** Faults that cannot happen on this rail, each with the reason why. */
  readonly notApplicable?: Readonly<Partial<Record<SandboxFault, string>>>;
}

export interface ConformanceCase {
  readonly title: string;
  /** The faults that it injects; the case is left out if one of them cannot happen. */
  readonly needs: readonly SandboxFault[];
  /** Set if the case is only for rails of this capability. */
  readonly capability?: RailCapability;
  run(harness: RailHarness): Promise<void>;
}
