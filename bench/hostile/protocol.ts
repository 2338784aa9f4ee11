/** The attacker's instructions: one JSON object on its command line. */
export interface Attack {
  readonly url: string;
  /** The target: a method and the pattern of a path, or what the attacker does instead of requests. */
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

/** The line on stdout with which it reports its start. */
export const BEGUN = "BEGUN";

/** Its report at the end: one JSON object on a line. */
export interface AttackOutcome {
  readonly requests: number;
  readonly longestMs: number;
  /** The slowest input. */
  readonly worst: string;
  readonly statuses: Readonly<Record<string, number>>;
}

/** The attacker has its own address, so it also has its own limits by address. */
export const attackerAddress = "127.0.0.2";
