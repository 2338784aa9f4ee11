/**
 * How long ago something was, also across a sleep of the machine.
 *
 * The monotonic clock stands still while a machine is suspended, and the wall clock can be set back; leases run on regardless, by the
 * database's clock. The longer of the two is what may have passed. A wall clock that is set forward makes a relay hand back rows that
 * it could have sent, which harms nobody.
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
