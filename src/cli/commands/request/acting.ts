/**
 * Who acts, and in which workspace: the options that the commands of the workflow share.
 *
 * A login that may run these commands may act for any member; the log names both, the member and the login.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Client } from "pg";
import { toError, type Refused } from "../../../capacity/index.ts";
import { listWorkspaces, type Workspace } from "../../../directory/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { databaseUrlOption, type DatabaseUrlOption } from "../../database.ts";

export interface CommonOptions extends DatabaseUrlOption {
  readonly json?: boolean;
}

export interface WorkspaceOption {
  readonly workspace: string;
}

export interface ActingOptions extends CommonOptions {
  readonly as?: string;
}

export function addCommon(command: Command): Command {
  return command.addOption(databaseUrlOption()).option("--json", "print one JSON object");
}

export function workspaceOption(): Option {
  return new Option("--workspace <id>", "which workspace").env("HEADROOM_WORKSPACE").default("default");
}

export function asOption(): Option {
  return new Option("--as <member>", "the member who acts, by id or Slack id").env("HEADROOM_MEMBER");
}

export function reasonOption(description = "why; it stands in the log"): Option {
  return new Option("--reason <text>", description).argParser((text: string) => {
    if (text.trim() !== "" && text.length <= 2_000) return text;
    throw new InvalidArgumentError("Give 1 to 2000 characters.");
  });
}

/** The member, or an explanation of how to name one. */
export function requireMember(options: { readonly as?: string }): string {
  if (options.as !== undefined && options.as !== "") return options.as;
  throw new HeadroomError("usage", "Nobody is named who does this.", {
    hint: "Pass --as <member>, or set HEADROOM_MEMBER. headroom members list shows who there is.",
  });
}

export function noSuchWorkspace(id: string, present: readonly Workspace[], wayOut: string): HeadroomError {
  return new HeadroomError("not_found", `There is no workspace "${id}".`, {
    detail: `There are: ${present.map((workspace) => workspace.id).join(", ")}`,
    hint: wayOut,
  });
}

/** Nothing found may mean nothing there, or a workspace that is misspelt. */
export async function requireWorkspace(client: Client, id: string): Promise<void> {
  const present = await listWorkspaces(client);
  if (present.some((workspace) => workspace.id === id)) return;
  throw noSuchWorkspace(id, present, "Name one of these with --workspace.");
}

/** A refusal ends a command like any other failure: message, hint, exit code 1. */
export function orFail<T extends { readonly outcome: string }>(answer: T | Refused): T {
  if (isRefused(answer)) throw toError(answer);
  return answer;
}

function isRefused(answer: { readonly outcome: string }): answer is Refused {
  return answer.outcome === "refused";
}

/** For arguments: what cannot be a request's id is a mistake in the call. */
export function parseRequestId(text: string): string {
  const id = text.trim().toUpperCase();
  if (/^CR-\d{4}-\d{6,}$/.test(id)) return id;
  throw new InvalidArgumentError("A request's id looks like CR-2026-000042.");
}

export function parseWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** Digits are kept as they were typed: the database checks cents. */
export function parseMoney(text: string): string {
  if (/^\d{1,13}(\.\d{1,2})?$/.test(text.trim())) return text.trim();
  throw new InvalidArgumentError("Give an amount in US dollars, such as 12000 or 99.50.");
}

/** What an option that begins with --no- has set to false is to be emptied; what was not given stays. */
export function emptied<T>(value: T | false | undefined): T | null | undefined {
  return value === false ? null : value;
}

export function collect(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text];
}
