/** A call of something that is exposed: its form, and short ways to write one. Does not own: which calls there are (calls.ts). */
import { memberSession, type Session } from "../capacity/gateway.ts";

type Value = string | number | boolean | null | object;
export type Arguments = Readonly<Record<string, Value>>;

export interface Call {
  /** A function, or `insert` and a view. */
  readonly of: string;
  /** Whoever the session is; without one, somebody at the command line. */
  readonly session?: Session;
  readonly args: Arguments;
  /** For an insert: further rows after the first. */
  readonly rows?: readonly Arguments[];
}

/** Stands in the place of something new: each time, where calls are kept, so that none is the repeat of one before. */
export const fresh = "{fresh}";

/** What is called with nothing, or with what has no state of its own. */
export const plain = (of: string, ...args: readonly Arguments[]): Call[] =>
  (args.length === 0 ? [{}] : args).map((each) => ({ of, args: each }));
export const by = (session: Session, ...calls: readonly Call[]): Call[] => calls.map((call) => ({ ...call, session }));
export const purposed = (purpose: string): Session => ({
  role: "service_role",
  claims: { role: "service_role", purpose },
});

export const rita = memberSession("rita");
export const ada = memberSession("ada");

/** What changes something is kept with a name. */
export const actor = { p_actor: "otto" } as const;
