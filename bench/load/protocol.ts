/** The protocol between the two sides of a load. */

/** A Node load process reports its rate in one line that starts with this. */
export const LOAD_PREFIX = "LOAD ";

/** The first second is not counted: every client plans its statements in it. */
export const WARM_UP_SECONDS = 1;
