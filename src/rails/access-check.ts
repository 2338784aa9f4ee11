/**
 * A harmless question to a provider with the installation's own settings: do they work? It sends nothing to anybody.
 *
 * Owns: what may come of an access check. Does not own: asking (each rail's access-check.ts), or what an operator is told to do (the doctor).
 */
import { exchangeCodes, statusCodes } from "./exchange-codes.ts";

export type AccessCheck =
  /** As whom we are known there, or what answered. */
  { readonly kind: "answers"; readonly as: string } | AccessProblem;

export interface AccessProblem {
  readonly kind: "problem";
  /** `refused`: our credential. `unreachable`: nothing that could judge it. `lacking`: it works, but not for all that is needed. */
  readonly what: "refused" | "unreachable" | "lacking" | "other";
  /** False when only a part is affected, such as looking up what is uncertain. */
  readonly grave: boolean;
  /** A sentence; never with a secret in it. */
  readonly reason: string;
  /** The way out, where the provider's own settings are it. */
  readonly remedy?: string | undefined;
}

/** No bound but time: a provider that is slow to say who we are is as good as away. */
export const accessCheckMs = 5_000;

/** At most so many channels or teams are asked about, so that a check stays short. */
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
