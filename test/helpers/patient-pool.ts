/** A pool that keeps its connections. */
import { Pool, type QueryConfig, type QueryResult } from "pg";
import { isRetryableConnectionError } from "../../src/db/errors.ts";

/**
 * Keeps a connection on which a statement was refused. A pool closes it, to be safe, but half of the statements in tests are refused: the
 * next one would then be the first of a new backend, which takes many times longer.
 */
export class PatientPool extends Pool {
  override query = (async (text: string | QueryConfig, values?: unknown[]): Promise<QueryResult> => {
    const client = await this.connect();
    let isLost = false;
    try {
      return await client.query(text, values);
    } catch (error) {
      isLost = isRetryableConnectionError(error);
      throw error;
    } finally {
      // A connection left inside a transaction must not be reused.
      client.release(isLost || client.getTransactionStatus() !== "I");
    }
  }) as Pool["query"];
}
