/** A suite's process reports a measurement to its parent as one line: this prefix, then JSON. */
export const RESULT_PREFIX = "RESULT ";
