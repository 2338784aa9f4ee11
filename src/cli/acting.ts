/**
 * Which request or job, who acts on it, and why: what `headroom request` and `headroom jobs` share.
 *
 * A login that may run these commands may act for any member; the log names both, the member and the login.
 */
import { InvalidArgumentError, Option } from "commander";
import { HeadroomError } from "../db/errors.ts";
import { askText, type Person } from "./ask.ts";
import { parseText, type CommonOptions } from "./options.ts";

export interface ActingOptions extends CommonOptions {
  readonly as?: string;
}

export function asOption(): Option {
  return new Option("--as <member>", "the member who acts, by id or Slack id").env("HEADROOM_MEMBER");
}

export function reasonOption(description = "why; it is recorded in the log"): Option {
  return new Option("--reason <text>", description).argParser(parseText(2_000));
}

/** The member, or an explanation of how to name one. */
export function requireMember(options: { readonly as?: string }): string {
  if (options.as !== undefined && options.as !== "") return options.as;
  throw new HeadroomError("usage", "No member was given to act as.", {
    hint: "Pass --as <member>, or set HEADROOM_MEMBER. headroom members list shows the members.",
  });
}

/** The reason that was given, or else the answer of the person at the terminal. */
export async function requireReason(options: { readonly reason?: string }, person?: Person): Promise<string> {
  const reason = options.reason ?? (await askText("Why? It is recorded in the log: ", person));
  if (reason !== undefined && reason.trim() !== "") return reason;
  throw new HeadroomError("usage", "This needs a reason.", { hint: 'Pass --reason "…". Nothing was changed.' });
}

/** For arguments: anything that cannot be a request's id is a usage error. */
export function parseRequestId(text: string): string {
  const id = text.trim().toUpperCase();
  if (/^CR-\d{4}-\d{6,}$/.test(id)) return id;
  throw new InvalidArgumentError("A request's id looks like CR-2026-000042.");
}

/** For arguments: a job is named by its own id, or by its request's. */
export function parseJobId(text: string): string {
  const id = text.trim();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id.toLowerCase();
  if (/^CR-\d{4}-\d{6,}$/i.test(id)) return id.toUpperCase();
  throw new InvalidArgumentError("Name a job by its request, such as CR-2026-000042, or by its own id.");
}
