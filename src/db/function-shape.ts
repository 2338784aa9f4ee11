/** How a function of the database returns its result, generated for each function, since the SQL that calls it differs. */
export interface FunctionShape {
  /** `row` and `rows` have named columns, `value` and `values` have one without a name. */
  readonly returns: "nothing" | "value" | "values" | "row" | "rows";
  /** Arguments of type json or jsonb: the driver would turn an array there into a Postgres array. */
  readonly json: readonly string[];
  /** Parameters without a name in SQL; they go by position. */
  readonly positional: boolean;
}
