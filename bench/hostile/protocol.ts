/** What the attacker's process is told: one JSON object on its command line. */
export interface Attack {
  readonly url: string;
  /** What is attacked: a method and the pattern of a path, or what the attacker does instead of requests. */
  readonly target: { readonly method: string; readonly path: string } | "slow readers";
  readonly whose: string;
  readonly seconds: number;
  readonly connections: number;
  readonly credentials: {
    readonly anonKey: string;
    readonly serviceKey: string;
    readonly memberToken: string;
    readonly relaySecret: string;
    /** Postal's private key, as PEM. */
    readonly postalKey: string;
  };
}

/** The line on stdout with which it begins. */
export const BEGUN = "BEGUN";

/** What it says at its end: one JSON object on a line. */
export interface AttackOutcome {
  readonly requests: number;
  readonly longestMs: number;
  /** What took longest. */
  readonly worst: string;
  readonly statuses: Readonly<Record<string, number>>;
}

/** The attacker comes from an address of its own, so that limits by address are its own too. */
export const attackerAddress = "127.0.0.2";
