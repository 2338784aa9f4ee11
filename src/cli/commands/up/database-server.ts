/**
 * The database of `headroom up`: an embedded server that is kept running, or the user's own.
 *
 * Owns: starting, restarting when the server's process dies, and stopping. Does not own: its content.
 */
import { setTimeout as delay } from "node:timers/promises";
import { startEmbedded, type EmbeddedOptions, type EmbeddedServer } from "../../../db/embedded.ts";
import { HeadroomError, isRetryableConnectionError, toHeadroomError } from "../../../db/errors.ts";
import type { Log } from "../../relay/log.ts";

export interface DatabaseServer {
  readonly url: string;
  readonly embedded: boolean;
  /** The data folder; undefined for the user's own server. */
  readonly home: string | undefined;
  /** Rejects when the server cannot be restarted. Never resolves. */
  readonly lost: Promise<never>;
  stop(): Promise<void>;
}

export interface DatabaseServerOptions {
  readonly url: string | undefined;
  readonly ephemeral: boolean;
  readonly dataDir: string;
  /** Undefined: the default port, or a free one if that is taken. */
  readonly port: number | undefined;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly notice: (text: string) => void;
}

/** Not used by any other known program, and always the same, so that a saved address stays valid. */
const defaultPort = 54_330;
const maxRestarts = 5;
const maxAttempts = 5;

export async function startDatabaseServer(options: DatabaseServerOptions): Promise<DatabaseServer> {
  if (options.url !== undefined) {
    const never = new Promise<never>(() => undefined);
    return { url: options.url, embedded: false, home: undefined, lost: never, stop: () => Promise.resolve() };
  }
  const { ephemeral, dataDir, signal, notice } = options;
  const wanted: EmbeddedOptions = {
    ...(ephemeral ? { ephemeral: true } : { dataDir }),
    signal,
    onNotice: notice,
  };
  const server = await startOnPort(wanted, options);
  return keepRunning(server, wanted, options);
}

async function startOnPort(wanted: EmbeddedOptions, options: DatabaseServerOptions): Promise<EmbeddedServer> {
  if (options.port !== undefined || options.ephemeral) return startEmbedded({ ...wanted, port: options.port ?? 0 });
  try {
    return await startEmbedded({ ...wanted, port: defaultPort });
  } catch (error) {
    if (!(error instanceof HeadroomError) || error.code !== "port_in_use") throw error;
    options.notice(`Port ${defaultPort} is taken by another program; using a free one. (--database-port sets it.)`);
    return startEmbedded({ ...wanted, port: 0 });
  }
}

function keepRunning(first: EmbeddedServer, wanted: EmbeddedOptions, options: DatabaseServerOptions): DatabaseServer {
  // The running server, or the one that is being started to replace it.
  let current = Promise.resolve(first);
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const lost = watch();
  lost.catch(() => undefined);

  async function watch(): Promise<never> {
    for (let restarts = 0; ; restarts += 1) {
      const server = await current;
      await server.exited;
      await server.stop();
      if (signal.aborted) return await new Promise<never>(() => undefined);
      if (options.ephemeral || restarts >= maxRestarts) throw gone(server);
      options.log({
        level: "error",
        event: "database_server_ended",
        message: "it is being restarted on the same port",
      });
      await delay(200 * restarts, undefined, { signal });
      current = startAgain(server.port);
    }
  }

  /** While nobody listens there, any new connection on the machine may get the port briefly; and a server may die while it starts. */
  async function startAgain(port: number): Promise<EmbeddedServer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await startEmbedded({ ...wanted, port, signal });
      } catch (error) {
        const { code } = toHeadroomError(error);
        const passes = code === "port_in_use" || isRetryableConnectionError(error);
        if (!passes || attempt === maxAttempts) throw error;
        options.log({ level: "warn", event: "database_server_not_started", code, attempt });
      }
      await delay(200 * attempt, undefined, { signal });
    }
  }

  return {
    url: first.url,
    embedded: true,
    home: first.home,
    lost,
    async stop() {
      over.abort();
      // An aborted start leaves nothing running; one that succeeded all the same is stopped, or it would outlive us.
      const server = await current.catch(() => undefined);
      await server?.stop();
    },
  };
}

function gone(server: EmbeddedServer): HeadroomError {
  return new HeadroomError("database_unreachable", "The embedded database server stopped unexpectedly.", {
    detail: `Its log is ${server.logFile}.`,
    hint: "Start it again; what was committed is kept.",
  });
}
