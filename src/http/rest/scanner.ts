/**
 * Walks through a text from left to right, for the small grammars of query strings.
 *
 * Owns: the position, and errors in PostgREST's words. Does not own: any grammar.
 */
import { RestError } from "./errors.ts";

export class Scanner {
  readonly #text: string;
  readonly #what: string;
  at = 0;

  /** `what` is how the text is named in an error: `failed to parse filter (foo.1)`. */
  constructor(text: string, what: string) {
    this.#text = text;
    this.#what = what;
  }

  get done(): boolean {
    return this.at >= this.#text.length;
  }

  get rest(): string {
    return this.#text.slice(this.at);
  }

  peek(): string {
    return this.#text.charAt(this.at);
  }

  /** Steps over the word if it is next. */
  take(word: string): boolean {
    if (!this.#text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  /** Steps over what the pattern (sticky) matches. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.at = pattern.lastIndex;
    return found;
  }

  expect(word: string): void {
    if (!this.take(word)) this.fail(`"${word}"`);
  }

  /** A value in double quotes, in which a backslash escapes the next character. */
  quoted(): string {
    this.expect('"');
    let value = "";
    for (;;) {
      const char = this.peek();
      if (char === "") this.fail('"\\""');
      this.at += 1;
      if (char === '"') return value;
      if (char === "\\") {
        value += this.peek();
        this.at += 1;
      } else value += char;
    }
  }

  fail(expected: string): never {
    const next = this.peek();
    throw new RestError(400, "PGRST100", `"failed to parse ${this.#what}" (line 1, column ${this.at + 1})`, {
      details: `unexpected ${next === "" ? "end of input" : JSON.stringify(next)} expecting ${expected}`,
    });
  }
}
