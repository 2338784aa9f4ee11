/** A question to the person at the terminal, if there is one. Asked on stderr, so that stdout has only results. */
import { createInterface } from "node:readline/promises";
import { deferred } from "../db/wait/deferred.ts";

export type Answer = "yes" | "no" | "nobody";

/** Whom to ask: the terminal, except in tests. */
export interface Person {
  /** Whether somebody can answer: both the input and the output must be a terminal. */
  readonly present: boolean;
  tell(text: string): void;
  /** Undefined when the input was closed without an answer. */
  answer(question: string): Promise<string | undefined>;
}

const terminal: Person = {
  get present() {
    return process.stdin.isTTY && process.stderr.isTTY;
  },
  tell: (text) => void process.stderr.write(`${text}\n`),
  async answer(question) {
    const dialogue = createInterface({ input: process.stdin, output: process.stderr });
    const { promise: left, resolve: leave } = deferred<undefined>();
    dialogue.once("close", () => leave(undefined));
    try {
      return await Promise.race([dialogue.question(question), left]);
    } finally {
      dialogue.close();
    }
  },
};

/** Asks, after the warning if there is one. Anything but yes or y is a no. */
export async function ask(question: string, warning: string | null, person: Person = terminal): Promise<Answer> {
  if (!person.present) return "nobody";
  if (warning !== null) person.tell(warning);
  const answer = await person.answer(question);
  return answer !== undefined && /^y(es)?$/i.test(answer.trim()) ? "yes" : "no";
}

/** What the person types; undefined when there is nobody to ask, or no answer. */
export async function askText(question: string, person: Person = terminal): Promise<string | undefined> {
  return person.present ? person.answer(question) : undefined;
}
