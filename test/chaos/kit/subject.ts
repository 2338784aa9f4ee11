/**
 * A subject of chaos: a part of the product that a run attacks, with bugs that its runs must find.
 *
 * Owns: what run.ts, the command line and the report need from each. Does not own: the list (../subjects.ts).
 */
import type { Finding } from "./findings.ts";
import type { PlantedOptions, PlantedResult } from "./planted.ts";

export interface Subject {
  /** The flag that chooses it. Undefined for the default subject. */
  readonly flag?: { readonly name: string; readonly about: string; readonly takesNumber?: true };
  /** The subject that it is a part of, whose flag may be given too. */
  readonly partOf?: string;
  run(flags: Flags, hooks: Hooks): Promise<RunResult>;
  planted(options: PlantedOptions): Promise<PlantedResult>;
}

export interface Flags {
  readonly seed: number;
  readonly minutes: number;
  readonly relays: number;
  /** How many payments are made, or notifications are sent. Default: by the minutes. */
  readonly count?: number | undefined;
  /** How many lives of payments are played, and the number of the first one. */
  readonly lives?: number | undefined;
  readonly from: number;
}

export interface Hooks {
  /** Ends a run early; it is then not judged. */
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** A line of the report: a number, words, or a number for each of several columns. */
export type Entry = number | string | Readonly<Record<string, number>>;
export type Sections = Readonly<Record<string, Readonly<Record<string, Entry>>>>;

export interface RunResult {
  readonly ok: boolean;
  readonly seed: number;
  readonly seconds: number;
  /** The events, under the titles of the report. */
  readonly sections: Sections;
  readonly findings: readonly Finding[];
}
