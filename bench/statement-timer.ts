/**
 * Times the statements that a relay sends, from outside: the driver's `query` is wrapped for this process, so
 * that the unmodified product is measured.
 */
import { Client } from "pg";
import { nowMs } from "./measure.ts";

export interface TimedStatement {
  /** Which of the given names its text contains. */
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

/** Starts timing statements whose text contains one of the names; `stop` restores the driver. */
export function timeStatements(
  names: readonly string[],
  onStatement: (statement: TimedStatement) => void,
): { stop(): void } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all overloads of the driver's function reduce to this.
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
