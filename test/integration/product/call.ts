/** A call of an exposed function or view: its type, and short ways to write one. Does not own: which calls there are (calls.ts). */
import { memberSession, type Session } from "../capacity/gateway.ts";

type Value = string | number | boolean | null | object;
export type Arguments = Readonly<Record<string, Value>>;

export interface Call {
  /** A function, or `insert` and a view. */
  readonly of: string;
  /** The caller's session; without one, an operator at the command line. */
  readonly session?: Session;
  readonly args: Arguments;
  /** For an insert: further rows after the first. */
  readonly rows?: readonly Arguments[];
}

/** A placeholder for a new value: different each time, where calls are committed, so that none repeats an earlier one. */
export const fresh = "{fresh}";

/** A function called without arguments, or with values that have no state. */
export const plain = (of: string, ...args: readonly Arguments[]): Call[] =>
  (args.length === 0 ? [{}] : args).map((each) => ({ of, args: each }));
export const by = (session: Session, ...calls: readonly Call[]): Call[] => calls.map((call) => ({ ...call, session }));
export const purposed = (purpose: string): Session => ({
  role: "service_role",
  claims: { role: "service_role", purpose },
});

export const rita = memberSession("rita");
export const ada = memberSession("ada");

/** A call that changes something is listed under a name. */
export const actor = { p_actor: "otto" } as const;
