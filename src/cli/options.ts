/** The options that nearly every command has, and how their values are read. */
import { type Command, InvalidArgumentError } from "commander";
import { databaseUrlOption, type DatabaseUrlOption } from "./database.ts";

export interface CommonOptions extends DatabaseUrlOption {
  readonly json?: boolean;
}

export function addCommon(command: Command): Command {
  return command.addOption(databaseUrlOption()).option("--json", "print one JSON object");
}

export function parseWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^-?\d+$/.test(text.trim()) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** Digits are kept as typed: the database checks cents. */
export function parseMoney(text: string): string {
  if (/^\d{1,13}(\.\d{1,2})?$/.test(text.trim())) return text.trim();
  throw new InvalidArgumentError("Give an amount in US dollars, such as 12000 or 99.50.");
}

/** Refused here when too long for the database, before anything is asked or done. */
export function parseText(maxChars: number): (text: string) => string {
  return (text) => {
    if (text.trim() !== "" && text.length <= maxChars) return text;
    throw new InvalidArgumentError(`Give 1 to ${maxChars} characters.`);
  };
}

/** An option that begins with --no- is false and clears the value (null); an option that was not given changes nothing (undefined). */
export function emptied<T>(value: T | false | undefined): T | null | undefined {
  return value === false ? null : value;
}

/** For options that may be repeated. */
export function collect(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/** For comma-separated lists, which may also be repeated. */
export function collectNames(text: string, before: readonly string[] | undefined): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) throw new InvalidArgumentError("There is an empty name in the list.");
  return [...(before ?? []), ...names];
}
