/**
 * A parsed query string: columns, conditions, order.
 *
 * Owns: the shapes and the operators that exist. Does not own: parsing them (query-string.ts) or writing them in SQL
 * (statement.ts).
 */

/** `meta->a->>b`: a column, and steps into JSON. */
export interface FieldPath {
  readonly column: string;
  readonly steps: readonly PathStep[];
}

export interface PathStep {
  readonly key: string | number;
  /** `->>`: the value as text. */
  readonly asText: boolean;
}

export type SelectItem =
  | { readonly kind: "all" }
  | {
      readonly kind: "field";
      readonly field: FieldPath;
      readonly alias: string | undefined;
      readonly cast: CastType | undefined;
    };

export const comparisons = {
  eq: "=",
  neq: "<>",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
  like: "like",
  ilike: "ilike",
  match: "~",
  imatch: "~*",
  isdistinct: "is distinct from",
  cs: "@>",
  cd: "<@",
  ov: "&&",
  sl: "<<",
  sr: ">>",
  nxr: "&<",
  nxl: "&>",
  adj: "-|-",
} as const;
export type Comparison = keyof typeof comparisons;

/** Operators that may apply to any or all of a list: `like(any).{a*,b*}`. */
export const quantifiable: ReadonlySet<Comparison> = new Set<Comparison>([
  "eq",
  "gt",
  "gte",
  "lt",
  "lte",
  "like",
  "ilike",
  "match",
  "imatch",
]);

export const textSearches = {
  fts: "to_tsquery",
  plfts: "plainto_tsquery",
  phfts: "phraseto_tsquery",
  wfts: "websearch_to_tsquery",
} as const;
export type TextSearch = keyof typeof textSearches;

export const isWords = {
  null: "null",
  not_null: "not null",
  true: "true",
  false: "false",
  unknown: "unknown",
} as const;
export type IsWord = keyof typeof isWords;

export type Operation =
  | {
      readonly kind: "compare";
      readonly operator: Comparison;
      readonly quantifier: "any" | "all" | undefined;
      readonly value: string;
    }
  | { readonly kind: "in"; readonly values: readonly string[] }
  | { readonly kind: "is"; readonly word: IsWord }
  | {
      readonly kind: "search";
      readonly operator: TextSearch;
      readonly language: string | undefined;
      readonly value: string;
    };

export type Condition =
  | { readonly kind: "field"; readonly field: FieldPath; readonly negated: boolean; readonly operation: Operation }
  | {
      readonly kind: "group";
      readonly joined: "and" | "or";
      readonly negated: boolean;
      readonly members: readonly Condition[];
    };

export interface OrderTerm {
  readonly field: FieldPath;
  readonly direction: "asc" | "desc" | undefined;
  readonly nulls: "first" | "last" | undefined;
}

/** Types that a column may be cast to. A closed list: a type's name cannot be a parameter of a statement. */
export const castTypes = [
  "bigint",
  "bool",
  "boolean",
  "date",
  "float4",
  "float8",
  "int",
  "int2",
  "int4",
  "int8",
  "integer",
  "interval",
  "json",
  "jsonb",
  "numeric",
  "real",
  "smallint",
  "text",
  "time",
  "timestamp",
  "timestamptz",
  "uuid",
  "varchar",
] as const;
export type CastType = (typeof castTypes)[number];

export interface ReadQuery {
  readonly select: readonly SelectItem[];
  readonly conditions: readonly Condition[];
  readonly order: readonly OrderTerm[];
  readonly offset: number;
  readonly limit: number | undefined;
}
