/**
 * A refusal as a value: what the database refused on purpose, with its code and a hint.
 *
 * Owns: telling a refusal from a failure. A lost connection, a missing schema or a bug stays an error and is thrown.
 */
import { HeadroomError } from "./errors.ts";
import { isRefusalCode, type RefusalCode } from "./refusals.gen.ts";

export interface Refused {
  readonly outcome: "refused";
  readonly code: RefusalCode;
  /** One sentence for people. */
  readonly message: string;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly httpStatus: number;
}

/** Runs the work and turns a refusal of the workflow into a value. */
export async function refusable<T>(work: Promise<T>): Promise<T | Refused> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof HeadroomError) || error.sqlState?.startsWith("PT") !== true) throw error;
    if (!isRefusalCode(error.code)) throw error;
    const { code, message, detail, hint, httpStatus } = error;
    return { outcome: "refused", code, message, detail, hint, httpStatus };
  }
}

/** The refusal as an error, for callers that do not expect it. */
export function toError(refused: Refused): HeadroomError {
  const { code, message, detail, hint, httpStatus } = refused;
  return new HeadroomError(code, message, { detail, hint, httpStatus });
}
