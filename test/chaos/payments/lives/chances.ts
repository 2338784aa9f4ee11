/** Randomness that depends only on names: removing one step from a life leaves all others unchanged. */
import { Random } from "../../kit/random.ts";

export function chanceOf(seed: number, ...names: readonly (string | number)[]): Random {
  let mixed = seed >>> 0;
  for (const letter of names.join("/")) mixed = (Math.imul(mixed ^ letter.charCodeAt(0), 16_777_619) + 0x9e37) >>> 0;
  return new Random(mixed);
}
