/**
 * Times the statements that a relay sends, from outside: the driver's `query` is wrapped for this process, so that
 * what is measured is what the relay really does, in the product as it is.
 */
import { Client } from "pg";
import { nowMs } from "./measure.ts";

export interface TimedStatement {
  /** Which of the names given was found in its text. */
  readonly name: string;
  readonly sentAtMs: number;
  readonly tookMs: number;
  readonly rows: number;
}

type Query = (this: Client, ...args: unknown[]) => unknown;

function textOf(argument: unknown): string {
  if (typeof argument === "string") return argument;
  if (typeof argument === "object" && argument !== null && "text" in argument) {
    return typeof argument.text === "string" ? argument.text : "";
  }
  return "";
}

const isThenable = (value: unknown): value is Promise<{ rows?: unknown[] }> =>
  typeof value === "object" && value !== null && "then" in value;

/** Starts timing statements whose text holds one of the names; `stop` puts the driver back as it was. */
export function timeStatements(
  names: readonly string[],
  onStatement: (statement: TimedStatement) => void,
): { stop(): void } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the driver's overloads all come down to this.
  const prototype = Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  prototype.query = function timed(...args) {
    const text = textOf(args[0]);
    const name = names.find((candidate) => text.includes(candidate));
    const sentAtMs = nowMs();
    const answer = original.apply(this, args);
    if (name !== undefined && isThenable(answer)) {
      answer.then(
        (result) => onStatement({ name, sentAtMs, tookMs: nowMs() - sentAtMs, rows: result.rows?.length ?? 0 }),
        () => {},
      );
    }
    return answer;
  };
  return {
    stop: () => {
      prototype.query = original;
    },
  };
}
