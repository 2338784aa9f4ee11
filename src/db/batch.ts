/**
 * Several statements in one message to the server: a transaction in a single round trip.
 *
 * Owns: a Submittable, by which the driver sends what it has no call for, and which statements a connection has prepared.
 * Does not own: connections and what the statements say.
 *
 * The extended protocol runs everything up to a Sync in one transaction and commits it there; when a statement fails, the server
 * skips the rest. So a batch takes effect as a whole or not at all, and no statement runs after one that failed. A batch that
 * begins with `begin` leaves its transaction open.
 */
import type { ClientBase, Connection, Submittable } from "pg";
import { valueTypes } from "./values/values.ts";
import { deferred } from "./wait/deferred.ts";

export interface BatchStatement {
  readonly text: string;
  readonly values?: readonly BatchValue[] | undefined;
  /** Prepared under this name at its first use on a connection. A name always has the same text. */
  readonly name?: string | undefined;
}

/** Values go out as text, and bytes as they are. */
export type BatchValue = string | number | Buffer | null;

export interface BatchResult {
  readonly rows: Record<string, unknown>[];
}

/** Returns one result per statement, in order. The statements named in `closed` are deallocated first, whatever fails afterwards. */
export function sendBatch(
  client: ClientBase,
  statements: readonly BatchStatement[],
  closed: readonly string[] = [],
): Promise<BatchResult[]> {
  const batch = new Batch(statements, closed);
  client.query(batch);
  return batch.done;
}

/** The part of a row's description that the driver passes on. */
interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/**
 * What each connection has prepared. `sent` means that the batch with it failed, so the server may or may not have it: it is closed,
 * which is always allowed, and prepared again.
 */
const preparedOn = new WeakMap<Connection, Map<string, "prepared" | "sent">>();

type Parser = (text: string) => unknown;

class Batch implements Submittable {
  readonly done: Promise<BatchResult[]>;
  readonly #statements: readonly BatchStatement[];
  readonly #closed: readonly string[];
  readonly #results: BatchResult[] = [];
  readonly #sent: string[] = [];
  readonly #resolve: (results: BatchResult[]) => void;
  readonly #reject: (error: unknown) => void;
  #names: readonly string[] = [];
  #parsers: readonly Parser[] = [];
  #rows: Record<string, unknown>[] = [];
  #prepared: Map<string, "prepared" | "sent"> | undefined;
  #unreadable: { readonly error: unknown } | undefined;

  constructor(statements: readonly BatchStatement[], closed: readonly string[]) {
    const { promise, resolve, reject } = deferred<BatchResult[]>();
    this.done = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#statements = statements;
    this.#closed = closed;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    try {
      for (const name of this.#closed) {
        connection.close({ type: "S", name }, true);
        preparedOn.get(connection)?.delete(name);
      }
      for (const statement of this.#statements) this.#send(connection, statement);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  #send(connection: Connection, { text, name = "", values = [] }: BatchStatement): void {
    this.#prepare(connection, name, text);
    const shown = values.map((value) => (typeof value === "number" ? String(value) : value));
    // Results come as text: the driver asks for bytes when `binary` holds anything.
    connection.bind({ portal: "", statement: name, values: shown, binary: "" }, true);
    connection.describe({ type: "P", name: "" }, true);
    connection.execute({ portal: "", rows: "0" }, true);
  }

  #prepare(connection: Connection, name: string, text: string): void {
    if (name === "") {
      connection.parse({ name, text, types: [] }, true);
      return;
    }
    let prepared = preparedOn.get(connection);
    if (prepared === undefined) preparedOn.set(connection, (prepared = new Map()));
    this.#prepared = prepared;
    const state = prepared.get(name);
    if (state === "prepared") return;
    if (state === "sent" && !this.#sent.includes(name)) connection.close({ type: "S", name }, true);
    if (!this.#sent.includes(name)) connection.parse({ name, text, types: [] }, true);
    prepared.set(name, "sent");
    this.#sent.push(name);
  }

  // The driver calls the following methods, in the order in which the server answers.

  handleRowDescription({ fields }: RowDescription): void {
    this.#names = fields.map((field) => field.name);
    this.#parsers = fields.map((field): Parser => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the driver types a parser's input as any
      return valueTypes.getTypeParser(field.dataTypeID, "text") as Parser;
    });
  }

  /** Called while the socket is read: an error that a parser throws must not end the process. */
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void {
    try {
      const row: Record<string, unknown> = {};
      message.fields.forEach((text, index) => {
        row[this.#names[index] ?? ""] = text === null ? null : this.#parsers[index]?.(text);
      });
      this.#rows.push(row);
    } catch (error) {
      this.#unreadable ??= { error };
    }
  }

  handleCommandComplete(): void {
    this.#results.push({ rows: this.#rows });
    this.#rows = [];
    this.#names = [];
    this.#parsers = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handlePortalSuspended(): void {
    this.handleCommandComplete();
  }

  handleCopyInResponse(): void {
    this.#reject(new Error("A batch cannot copy."));
  }

  handleCopyData(): void {}

  handleReadyForQuery(): void {
    for (const name of this.#sent) this.#prepared?.set(name, "prepared");
    if (this.#unreadable === undefined) this.#resolve(this.#results);
    else this.#reject(this.#unreadable.error);
  }

  handleError(error: unknown): void {
    this.#reject(error);
  }
}
