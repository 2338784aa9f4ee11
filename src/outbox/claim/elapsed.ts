/**
 * How long ago something was, including time when the machine was suspended.
 *
 * The monotonic clock stops while a machine is suspended, and the wall clock can be set back; leases continue to run by the
 * database's clock. The longer of the two may be the real time. If the wall clock is set forward, a relay hands back rows that
 * it could have sent, which does no harm.
 */

export interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

export function thisMoment(): Moment {
  return { steadyMs: performance.now(), wallMs: Date.now() };
}

export function elapsedMs(since: Moment): number {
  return Math.max(performance.now() - since.steadyMs, Date.now() - since.wallMs);
}
