import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeadroomError } from "../../db/errors.ts";
import { parseAccept, parsePrefer } from "./negotiation.ts";
import type { ExposedColumn } from "../../db/exposed.ts";
import type { ReadQuery } from "./query.ts";
import { parseFilter, parseLogic, parseOrder, parseSelect } from "./query-string.ts";
import { contentLocation, readQuery } from "./request.ts";
import { relationStatement } from "./statement.ts";

const list = parseAccept(null);

/** A relation that has every column that the query names. */
function relationFor(read: ReadQuery): { name: string; columns: ExposedColumn[] } {
  const names: string[] = [];
  JSON.stringify(read, (key, value: unknown) => {
    if (key === "column" && typeof value === "string") names.push(value);
    return value;
  });
  const plain = { type: "pg_catalog.text", shownType: "text", values: null, nullable: true, comment: null };
  return { name: "things", columns: names.map((name) => ({ name, ...plain })) };
}

/** The statement without everything that may come from a caller: the rest is ours. */
function skeleton(text: string): string {
  return text
    .replaceAll(/"(?:[^"]|"")*"/g, "NAME")
    .replaceAll(/\$\d+/g, "VALUE")
    .replaceAll(/'response\.(?:status|headers)'|'\[\]'|''/g, "LITERAL");
}

/** Every word that our statements contain. */
const ours =
  /^(?:NAME|VALUE|select|null|pg_catalog|int8|int4|text|count|counted|100001|rows|as|total|coalesce|json_agg|page|body|nullif|current_setting|LITERAL|true|status|headers|from|where|and|or|not|in|any|all|is|distinct|like|ilike|unknown|false|order|by|asc|desc|nulls|first|last|limit|offset|answer|octet_length|bytes|case|when|8388608|then|end|to_jsonb|cast|regconfig|to_tsquery|plainto_tsquery|phraseto_tsquery|websearch_to_tsquery|bigint|bool|boolean|date|float4|float8|int|int2|integer|interval|json|jsonb|numeric|real|smallint|time|timestamp|timestamptz|uuid|varchar|[\s.,:*()<>=~@&|-]+)$/;

function foreignWords(text: string): string[] {
  return skeleton(text)
    .split(/(\s+|[.,:*()<>=~@&|-]+)/)
    .filter((word) => word !== "" && !ours.test(word));
}

const operators = ["eq", "neq", "gt", "in", "is", "like", "ilike", "cs", "fts", "not.eq", "like(any)", "x", ""];
const anything = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "*",
    '"',
    "'; drop table x; --",
    "a->b->>c",
    "a::text",
    "a.b",
    "(a,b)",
    "{1,2}",
    "\\",
    "null",
    ")",
    "$1",
  ),
);
const filterText = fc.tuple(fc.constantFrom(...operators), anything).map(([operator, value]) => `${operator}.${value}`);
const pair = fc.oneof(
  fc.tuple(anything, filterText),
  fc.tuple(fc.constantFrom("select", "order", "limit", "offset"), anything),
  fc.tuple(
    fc.constantFrom("or", "and", "not.or", "not.and"),
    fc
      .array(
        fc.tuple(anything, filterText).map(([name, filter]) => `${name}.${filter}`),
        { maxLength: 4 },
      )
      .map((members) => `(${members.join(",")})`),
  ),
);

/** When the relation has two columns. */
function textOf(query: string): string {
  const { read } = readQuery(new URLSearchParams(query), null, 1_000);
  const things = relationFor(read);
  const known = { ...things, columns: things.columns.filter(({ name }) => name === "id" || name === "meta") };
  return relationStatement("public", known, read, list, true).text;
}

describe("a query string", () => {
  it("is refused with a 4xx, or becomes a statement of our words, quoted names, a bound and parameters", () => {
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 6 }), fc.boolean(), (pairs, counted) => {
        const params = new URLSearchParams(pairs);
        try {
          const { read } = readQuery(params, null, 1_000);
          const { text, values } = relationStatement("public", relationFor(read), read, list, counted);
          // No more than the page that the server allows.
          expect(foreignWords(text.replace(/ limit (?:\d{1,3}|1000)\b/, ""))).toEqual([]);
          const numbers = [...text.replaceAll(/"(?:[^"]|"")*"/g, "").matchAll(/\$(\d+)/g)].map((match) =>
            Number(match[1]),
          );
          expect(Math.max(0, ...numbers)).toBe(values.length);
        } catch (error) {
          if (!(error instanceof HeadroomError)) throw error;
          expect(error.httpStatus).toBeGreaterThanOrEqual(400);
          expect(error.httpStatus).toBeLessThan(500);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("keeps a quoted value unchanged, whatever it contains", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        const quoted = `"${value.replace(/["\\]/g, "\\$&")}"`;
        expect(parseLogic("or", false, `(a.eq.${quoted},b.in.(${quoted},2))`)).toMatchObject({
          members: [{ operation: { value } }, { operation: { values: [value, "2"] } }],
        });
      }),
    );
  });

  it("reads columns, aliases, casts and paths", () => {
    expect(parseSelect("id,a:meta->b->>0,qty::text,*")).toEqual([
      { kind: "field", field: { column: "id", steps: [] }, alias: undefined, cast: undefined },
      {
        kind: "field",
        field: {
          column: "meta",
          steps: [
            { key: "b", asText: false },
            { key: 0, asText: true },
          ],
        },
        alias: "a",
        cast: undefined,
      },
      { kind: "field", field: { column: "qty", steps: [] }, alias: undefined, cast: "text" },
      { kind: "all" },
    ]);
  });

  it("reads order with directions and the place of nulls", () => {
    expect(parseOrder("a.desc.nullslast,meta->>b")).toEqual([
      { field: { column: "a", steps: [] }, direction: "desc", nulls: "last" },
      { field: { column: "meta", steps: [{ key: "b", asText: true }] }, direction: undefined, nulls: undefined },
    ]);
  });

  it("takes the rest of a condition as its value, including dots, commas and quotes", () => {
    expect(parseFilter("a", 'not.eq.1.2,"x"(y)')).toMatchObject({ negated: true, operation: { value: '1.2,"x"(y)' } });
  });

  it("is bounded", () => {
    expect(() => parseLogic("or", false, `(${Array.from({ length: 300 }, () => "a.eq.1").join(",")})`)).toThrow();
    expect(() => parseLogic("or", false, `${"(and".repeat(50)}(a.eq.1)${")".repeat(50)}`)).toThrow();
    expect(() => parseSelect("a::regclass")).toThrow('type "regclass" does not exist');
  });

  it("may name each column once, and only columns", () => {
    for (const query of [
      "select=*,id",
      "select=a:meta->a,b:meta->b,meta",
      "or=(id.eq.1,meta->a.eq.2)",
      "order=id,id",
    ]) {
      expect(textOf(query)).toContain("from");
    }
    for (const query of ["select=id,id", "select=*,*", "select=a:id,b:id::text", "select=meta->a,b:meta->a"]) {
      expect(() => textOf(query), query).toThrow("specified more than once");
    }
    for (const query of [
      "select=count",
      "select=id,a:json_agg",
      "select=ctid",
      "select=to_jsonb->id",
      "to_jsonb=cs.{}",
      "order=count",
      "and=(id.eq.1,or(meta->a.eq.1,not.and(count.gt.0)))",
    ]) {
      expect(() => textOf(query), query).toThrow(/^column things\.\w+ does not exist$/);
    }
  });

  it("is named in order and encoded for Content-Location", () => {
    expect(contentLocation("/t", new URLSearchParams("select=id,a:meta->a&b=in.(1,2)"))).toBe(
      "/t?b=in.%281%2C2%29&select=id%2Ca%3Ameta-%3Ea",
    );
  });
});

describe("preferences", () => {
  it("name what was applied, and refuse unknown ones only when asked to be strict", () => {
    expect(parsePrefer("count=exact, x=y")).toEqual({ count: "exact", singleObject: false, applied: "count=exact" });
    expect(() => parsePrefer("handling=strict, x=y")).toThrow("Invalid preferences");
  });
});
