/** What the two sides of a load agree on. */

/** How a Node load process tells its rate: one line that starts with this. */
export const LOAD_PREFIX = "LOAD ";

/** The first second is not counted: every client plans its statements in it. */
export const WARM_UP_SECONDS = 1;
