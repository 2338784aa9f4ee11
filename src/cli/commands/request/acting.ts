/**
 * Which request, who acts on it, and why: what the sub-commands of `headroom request` share.
 *
 * A login that may run these commands may act for any member; the log names both, the member and the login.
 */
import { InvalidArgumentError, Option } from "commander";
import { HeadroomError } from "../../../db/errors.ts";
import { parseText, type CommonOptions } from "../../options.ts";

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

/** For arguments: what cannot be a request's id is a mistake in the call. */
export function parseRequestId(text: string): string {
  const id = text.trim().toUpperCase();
  if (/^CR-\d{4}-\d{6,}$/.test(id)) return id;
  throw new InvalidArgumentError("A request's id looks like CR-2026-000042.");
}
