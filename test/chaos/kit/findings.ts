/**
 * The violations, grouped by the invariant that they break. Thousands of rows may break one for the same reason, so a
 * few examples are kept and the rest are counted.
 */

export interface Finding {
  readonly invariant: string;
  readonly count: number;
  readonly examples: readonly string[];
}

const maxExamples = 5;

export class Findings {
  readonly #found = new Map<string, { count: number; examples: string[] }>();

  add(invariant: string, example: string): void {
    const finding = this.#found.get(invariant) ?? { count: 0, examples: [] };
    this.#found.set(invariant, finding);
    finding.count += 1;
    if (finding.examples.length < maxExamples) finding.examples.push(example);
  }

  get any(): boolean {
    return this.#found.size > 0;
  }

  get list(): readonly Finding[] {
    return [...this.#found].map(([invariant, { count, examples }]) => ({ invariant, count, examples }));
  }
}
