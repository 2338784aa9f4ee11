/**
 * Asks a provider, with the installation's own settings, whether these work. It changes nothing and sends nothing to anybody.
 *
 * Owns: the possible outcomes of an access check. Does not own: asking (each rail's access-check.ts), or what an operator is told to do (the doctor).
 */
import { exchangeCodes, statusCodes } from "./exchange-codes.ts";

export type AccessCheck =
  /** The account that we have there, or what answered. */
  { readonly kind: "answers"; readonly as: string } | AccessProblem;

export interface AccessProblem {
  readonly kind: "problem";
  /** `refused`: our credential is. `unreachable`: nothing could judge it. `lacking`: it works, but lacks a right that is needed. */
  readonly what: "refused" | "unreachable" | "lacking" | "other";
  /** False if only a part is affected, such as looking up uncertain rows. */
  readonly grave: boolean;
  /** A sentence, without any secret. */
  readonly reason: string;
  /** What to do, if it is done in the provider's own settings. */
  readonly remedy?: string | undefined;
}

/** Limited by time only: a provider that takes longer to identify us is treated as unreachable. */
export const accessCheckMs = 5_000;

/** The maximum number of channels or teams that are asked about, so that a check stays short. */
export const maxPlaces = 20;

/** A failed call as a problem. `refusals` are the codes that are about the credential. */
export function problemOf(
  code: string,
  meaning: string,
  detail: string | undefined,
  refusals: readonly string[],
): AccessProblem {
  const unanswered = Object.hasOwn(exchangeCodes, code) || Object.hasOwn(statusCodes, code);
  const what = refusals.includes(code) ? "refused" : unanswered ? "unreachable" : "other";
  const reason = detail === undefined || detail === "" ? meaning : `${meaning.replace(/\.$/, "")} (${detail}).`;
  return { kind: "problem", what, grave: true, reason };
}

export function lacking(grave: boolean, reason: string, remedy: string): AccessProblem {
  return { kind: "problem", what: "lacking", grave, reason, remedy };
}
