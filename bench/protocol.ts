/** How a suite's process tells its parent a measurement: one line that starts with this, then JSON. */
export const RESULT_PREFIX = "RESULT ";
