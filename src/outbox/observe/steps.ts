/**
 * The boundaries between the steps of a relay, for tests that stop or kill a process exactly there.
 */

/** The points between steps at which a relay can die; it survives each, and each is tested. */
export const relaySteps = [
  "claim.before",
  "claim.after",
  "send.before",
  "send.after",
  "settle.before",
  "settle.after",
  "reap.before",
  "reap.after",
] as const;
export type RelayStep = (typeof relaySteps)[number];
