/**
 * Reads the small part of pgbench's script language that the files under `sql/` use: `\set name random(a, b)`, and
 * statements with `:name` in them. It lets the same files run where pgbench is not installed.
 */

export interface LoadScript {
  readonly variables: readonly { readonly name: string; readonly low: bigint; readonly high: bigint }[];
  readonly statements: readonly { readonly text: string; readonly parameters: readonly string[] }[];
}

const SET = /^\\set\s+(\w+)\s+random\(\s*(\d+)\s*,\s*(\d+)\s*\)\s*$/;
/** A colon before a letter is a variable; a doubled colon is a cast. */
const VARIABLE = /(?<!:):([a-z_]\w*)/gi;

export function parseLoadScript(source: string): LoadScript {
  const lines = source.split("\n").filter((line) => !line.startsWith("--"));
  const variables = lines.flatMap((line) => {
    if (!line.startsWith("\\")) return [];
    const [, name, low, high] = SET.exec(line) ?? [];
    if (name === undefined || low === undefined || high === undefined) throw new Error(`not understood: ${line}`);
    return [{ name, low: BigInt(low), high: BigInt(high) }];
  });
  const sql = lines.filter((line) => !line.startsWith("\\")).join("\n");
  const statements = sql
    .split(/;\s*$/m)
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map(withParameters);
  return { variables, statements };
}

/** Each `:name` becomes a separate `$n`, as in pgbench's prepared mode: one name may be used as text and as a number. */
function withParameters(text: string): { text: string; parameters: string[] } {
  const parameters: string[] = [];
  const numbered = text.replaceAll(VARIABLE, (_, name: string) => {
    parameters.push(name);
    return `$${parameters.length}`;
  });
  return { text: numbered, parameters };
}

/** Uniform over the range, which may be wider than a double is exact in. */
export function randomBetween(low: bigint, high: bigint): bigint {
  const span = high - low + 1n;
  const bits = (BigInt(Math.floor(Math.random() * 2 ** 32)) << 32n) | BigInt(Math.floor(Math.random() * 2 ** 32));
  return low + (bits % span);
}
