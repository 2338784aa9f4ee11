/**
 * The file of heads: the end of every chain on one day. Keep it where those who can change the database cannot change it.
 *
 * One line per request: id, number of its last event, hash. Lines that begin with # are comments. It is read and written as a stream, so that a
 * million requests take no more memory than ten thousand.
 */
import { access, open, rm } from "node:fs/promises";
import type { Client } from "pg";
import { listHeads, verifyHeads, type Finding, type Head } from "../../../capacity/index.ts";
import { HeadroomError, nodeCodeOf } from "../../../db/errors.ts";

export interface Exported {
  readonly file: string;
  readonly requests: number;
}

export interface Compared {
  readonly file: string;
  readonly requests: number;
}

/** Heads of another day are evidence and must not be overwritten. Checked before the long work, and again when the file is opened. */
export async function refuseExisting(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw fileExists(file);
}

function fileExists(file: string): HeadroomError {
  return new HeadroomError("usage", `${file} already exists.`, {
    hint: "Give a new file name: heads of another day are worth keeping. Compare with them by --against.",
  });
}

export async function exportHeads(client: Client, file: string, workspaceId: string | undefined): Promise<Exported> {
  const handle = await open(file, "wx").catch((error: unknown) => {
    throw nodeCodeOf(error) === "EEXIST" ? fileExists(file) : cannot("write", file, error);
  });
  let requests = 0;
  try {
    const scope = workspaceId === undefined ? "all workspaces" : `workspace ${workspaceId}`;
    await handle.write(`# Heads of ${scope}, ${new Date().toISOString()}: request, last event, hash\n`);
    for await (const heads of listHeads(client, workspaceId)) {
      await handle.write(heads.map(({ requestId, version, hash }) => `${requestId} ${version} ${hash}\n`).join(""));
      requests += heads.length;
    }
    await handle.sync();
  } catch (error) {
    await handle.close();
    await rm(file, { force: true });
    throw nodeCodeOf(error) === undefined ? error : cannot("write", file, error);
  }
  await handle.close();
  return { file, requests };
}

const headsPerBatch = 5_000;

export async function compareWithRecord(
  client: Client,
  file: string,
  note: (found: readonly Finding[]) => void,
): Promise<Compared> {
  const handle = await open(file, "r").catch((error: unknown) => {
    throw cannot("read", file, error);
  });
  let requests = 0;
  let batch: Head[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) note(await verifyHeads(client, batch));
    requests += batch.length;
    batch = [];
  };
  try {
    let line = 0;
    for await (const text of handle.readLines()) {
      line += 1;
      if (text === "" || text.startsWith("#")) continue;
      batch.push(parseHead(text, file, line));
      if (batch.length === headsPerBatch) await flush();
    }
    await flush();
  } finally {
    await handle.close();
  }
  return { file, requests };
}

function parseHead(text: string, file: string, line: number): Head {
  const [, requestId, version, hash] = /^(\S{1,64}) (\d{1,9}) ([0-9a-f]{64})$/.exec(text.trimEnd()) ?? [];
  if (requestId === undefined || version === undefined || hash === undefined) {
    throw new HeadroomError("usage", `Line ${line} of ${file} is not a head.`, {
      hint: "Give a file that headroom verify --export-head has written.",
    });
  }
  return { requestId, version: Number(version), hash };
}

function cannot(what: "read" | "write", file: string, cause: unknown): HeadroomError {
  return new HeadroomError("usage", `Cannot ${what} ${file}.`, {
    detail: cause instanceof Error ? cause.message : String(cause),
    hint:
      what === "read"
        ? "Check the file's name and its permissions."
        : "Check that the folder exists and can be written to.",
    cause,
  });
}
