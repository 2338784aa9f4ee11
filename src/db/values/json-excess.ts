/**
 * Whether JSON is nested deeper, or has more values, than any honest caller sends. It does not parse: a megabyte of brackets or members
 * takes a tenth of a second to parse, and every other request waits meanwhile.
 */

const maxValues = 20_000;

/** What is wrong with the JSON, as the end of a sentence about it; undefined when nothing is. Brackets and commas inside of strings do not count. */
export function excessOf(text: string, maxDepth: number): string | undefined {
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
    else if (code === 0x2c) {
      values += 1;
      if (values > maxValues) return `has more than ${maxValues} values`;
    }
  }
  return undefined;
}
