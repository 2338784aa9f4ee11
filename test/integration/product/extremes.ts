/**
 * The extremes of every type that a caller may send, and every call with one of them in the place of one of its values.
 *
 * Does not own: the calls (calls.ts), nor what is asserted.
 */
import type { Call } from "./call.ts";
import type { Exposed } from "./calling.ts";

const times = [
  "infinity",
  "-infinity",
  "294276-12-31 23:59:59.999999+00",
  "4713-01-01 00:00:00+00 BC",
  "9999-12-31 23:59:59.999999+00",
  "0001-01-01 00:00:00+00",
];
const megabyte = "x".repeat(1_048_576);
const texts = [
  "",
  " ",
  megabyte,
  "😀".repeat(5_000),
  "\u0001\u001f\u007f\u009f",
  "\u202e\ufeff\uffff\u{10ffff}",
  String.raw`\u0000 \ud800 %s $1 {{x}}`,
  "infinity",
  "NaN",
  "1e131071",
  "-9223372036854775809",
];
const wholes = {
  smallint: [32_767, -32_768],
  integer: [2_147_483_647, -2_147_483_648],
  bigint: ["9223372036854775807", "-9223372036854775808"],
} as const;
const manyZeros = `1.${"0".repeat(16_000)}`;

const byType: Readonly<Record<string, readonly unknown[]>> = {
  text: texts,
  name: texts.map((text) => text.slice(0, 60)),
  "timestamp with time zone": times,
  date: ["infinity", "-infinity", "5874897-12-31", "4713-01-01 BC", "9999-12-31"],
  interval: [
    "178000000 years",
    "-178000000 years",
    "2147483647 days",
    "-1 second",
    "-2147483648 months",
    "0",
    "2562047788 hours",
  ],
  smallint: [...wholes.smallint, 0, -1],
  integer: [...wholes.integer, 0, -1],
  bigint: [...wholes.bigint, 0, -1],
  numeric: ["NaN", "Infinity", "-Infinity", "1e131071", "-1e131071", "1e-16383", manyZeros, "0", "-1"],
  real: ["NaN", "Infinity", "-Infinity", "3e38", "1e-45", "0", "-1"],
  boolean: [true, false],
  uuid: ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
  "text[]": [
    "{}",
    "{NULL}",
    '{""}',
    "{{a,b},{c,d}}",
    "[5:6]={a,b}",
    [megabyte],
    Array.from({ length: 10_001 }, (_, n) => `t${n}`),
  ],
  "name[]": ["{}", "{NULL}", '{""}', "{{a,b},{c,d}}"],
  "uuid[]": [
    "{}",
    "{NULL}",
    "{{00000000-0000-0000-0000-000000000000}}",
    "[7:7]={00000000-0000-0000-0000-000000000000}",
  ],
  "smallint[]": ["{}", "{NULL}", "{32767,-32768}"],
  "integer[]": ["{}", "{NULL}", "{2147483647,-2147483648}", "{{1,2},{3,4}}"],
};

/** Written by hand, since no value of JavaScript has these digits, depths or halves of characters. */
const documents = [
  "null",
  "{}",
  "[]",
  '""',
  "1e131071",
  manyZeros,
  "9223372036854775808",
  "9223372036854775807",
  "-9223372036854775808",
  "2147483647",
  "-2147483648",
  // The first and the last second that Postgres knows.
  "-210866803200",
  "9224318015999",
  '"infinity"',
  '"-infinity"',
  '"294276-12-31T23:59:59Z"',
  '"4713-01-01T00:00:00Z BC"',
  '"5874897-12-31"',
  '"NaN"',
  String.raw`"\u0000"`,
  String.raw`"\ud800"`,
  String.raw`"\u0001\u202e"`,
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
];
/** The same for what a provider sends: only a few, since there are many places. */
const inBodies = documents.filter((text) => text.length < 30 && !/^\[|210866803200|-2147483648|-9223/.test(text));
const large = `"${megabyte}"`;

/** JSON as it will be sent, already as text. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function written(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}:${written(each)}`)
      .join(",")}}`;
  return JSON.stringify(value);
}

/** The document with another value in one place, for each of its places: itself, and everything in it. */
function* places(value: unknown): Generator<(put: Raw) => unknown> {
  yield (put) => put;
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const change of places(inner)) {
      yield (put) =>
        Array.isArray(value)
          ? value.map((each: unknown, n) => (String(n) === key ? change(put) : each))
          : { ...value, [key]: change(put) };
    }
  }
}

/** The value of an argument, and which part of it is extreme. */
interface Put {
  readonly value: unknown;
  readonly put: unknown;
}

function* ofDocument(value: unknown, list = documents): Generator<Put> {
  for (const change of places(value)) for (const put of list) yield { value: written(change(new Raw(put))), put };
  if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) yield { value: written({ ...value, [key]: new Raw(large) }), put: large };
  } else yield { value: large, put: large };
}

export interface Extreme {
  readonly call: Call;
  /** A value to compute with: a number or a time. */
  readonly isMeasure: boolean;
  /** Where, and what, for people. */
  readonly title: string;
}

const isMeasure = (put: unknown): boolean => /^"?-?(infinity|nan|[\d][\d.e+-]{3,})/i.test(String(put));

const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
};

/** The call with each extreme in each place, one at a time, and with each place empty. */
export function* extremesOf(call: Call, { types }: Exposed): Generator<Extreme> {
  for (const [name, type] of Object.entries(types)) {
    const given = call.args[name];
    const isBody = name === "" && typeof given === "string" && given.startsWith("{");
    const values: Iterable<Put> =
      type === "jsonb"
        ? ofDocument(given ?? {})
        : isBody
          ? ofDocument(JSON.parse(given), inBodies)
          : (byType[type] ?? []).map((value) => ({ value, put: value }));
    for (const { value, put } of [{ value: null, put: null }, ...values]) {
      const changed = { ...call, args: { ...call.args, [name]: value as never } };
      yield {
        call: changed,
        isMeasure: type !== "text" && isMeasure(put),
        title: `${call.of}: ${name} = ${shown(value)}`,
      };
    }
  }
}
