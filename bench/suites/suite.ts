/** The arguments of a suite's function. */
import type { Measurement, Params } from "../model.ts";

export interface SuiteContext {
  /** A fresh database for this suite only. */
  readonly url: string;
  readonly params: SuiteParams;
  readonly emit: (measurement: Measurement) => void;
  readonly log: (message: string) => void;
}

export type Suite = (context: SuiteContext) => Promise<void>;

/** Typed access to the parameters from the parent process; a missing one is a bug in a part. */
export class SuiteParams {
  readonly #params: Params;

  constructor(params: Params) {
    this.#params = params;
  }

  number(name: string): number {
    const value = this.#params[name];
    if (typeof value !== "number") throw new Error(`the suite needs a number "${name}"`);
    return value;
  }

  text(name: string): string {
    const value = this.#params[name];
    if (typeof value !== "string") throw new Error(`the suite needs a text "${name}"`);
    return value;
  }
}
