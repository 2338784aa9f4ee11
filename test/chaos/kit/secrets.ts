/** Known to the stage and to its parts. */
export const secretKey = "a-key-of-thirty-two-bytes-or-more-for-chaos";
/** Of the logins of relays, of the server and of strangers. */
export const password = "chaos";
