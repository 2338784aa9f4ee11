/**
 * Live updates: changes to requests, sent to the connected members who may read them, and the unread count of their inbox.
 *
 * Owns: noticing that something happened, and who is notified. Does not own: who may see what. Each member's events are read in the
 * member's own session, so row-level security decides; when a session ends, its streams end too.
 *
 * While anybody is connected, the server polls the database once a second, for all connections together; without connections it does not
 * poll. It does not use NOTIFY: commits that notify queue for one lock (ADR 4), and NOTIFY does not pass transaction poolers. Only when
 * there is something new do the sessions of that workspace read it: all browsers of one session together, and a few sessions at a time.
 * The same poll says who got a notification; their sessions count what is unread and send the count as a separate event. That needs no
 * place in the order, because only the last count matters. Each quiet session is checked for revocation from time to time, and no
 * connection outlives the token that opened it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { toHeadroomError } from "../../db/errors.ts";
import { Semaphore } from "../../db/wait/semaphore.ts";
import type { HttpLogEntry } from "../dependencies.ts";
import type { GatewayDatabase } from "../database/gateway-database.ts";
import type { RouteContext } from "../route.ts";
import { whoIs, type Session } from "../auth/session.ts";
import { clockToleranceSeconds } from "../auth/tokens.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import { readAllEvents, readEvents } from "./read-events.ts";
import { readTold, readUnread, type Unread } from "./read-inbox.ts";
import { EventStream } from "./stream.ts";
import { Watermark, type Horizon } from "./watermark.ts";

export interface LiveOptions {
  /** How often the server polls while anybody is connected. Default: 1,000. */
  readonly pollMs?: number | undefined;
  /** How often a quiet connection is kept alive. Default: 20,000. */
  readonly heartbeatMs?: number | undefined;
  /** How long a connection lasts; clients reconnect, and authenticate again. Default: 900,000. */
  readonly connectionLastsMs?: number | undefined;
  /** How often a session that gets no events is checked for revocation. Default: 60,000. */
  readonly recheckMs?: number | undefined;
  /** Default: 8. */
  readonly maxPerMember?: number | undefined;
  /** Default: 500. */
  readonly maxPerWorkspace?: number | undefined;
  /** Default: 1,000. */
  readonly maxConnections?: number | undefined;
}

const defaults = {
  pollMs: 1_000,
  heartbeatMs: 20_000,
  connectionLastsMs: 900_000,
  recheckMs: 60_000,
  maxPerMember: 8,
  maxPerWorkspace: 500,
  maxConnections: 1_000,
} as const;

/** A client that was away for longer loads everything again instead. In microseconds. */
const longestResume = 3_600_000_000;
/** How many sessions read at the same time, so that live updates leave the pool to requests. */
const readersAtOnce = 3;
const longestBackoffMs = 10_000;

/** A client that connects. */
export type Listener = Pick<RouteContext, "session" | "signal" | "reader">;

/** Connections with the same claims, so they see the same events. */
interface Audience {
  readonly session: Session;
  readonly workspaceId: string;
  readonly memberId: string;
  readonly streams: Set<EventStream>;
  reading: boolean;
  behind: boolean;
  checking: boolean;
}

export interface EventFeedParts {
  readonly database: GatewayDatabase;
  readonly log: (entry: HttpLogEntry) => void;
  /** Aborted when the server stops. */
  readonly closing: AbortSignal;
  readonly options?: LiveOptions | undefined;
  readonly now: () => number;
}

export class EventFeed {
  readonly #parts: EventFeedParts;
  readonly #options: Readonly<Record<keyof LiveOptions, number>>;
  readonly #audiences = new Map<string, Audience>();
  readonly #noticed = new Map<string, number>();
  readonly #limit: ConnectionLimit;
  readonly #reads = new Semaphore(readersAtOnce);
  readonly #watermark = new Watermark();
  #position = 0;
  #polling = false;

  constructor(parts: EventFeedParts) {
    this.#parts = parts;
    this.#options = withDefaults(parts.options);
    this.#limit = new ConnectionLimit(this.#options);
  }

  /** The answer to a client that connects; `since` is the last id that it saw. */
  async open(listener: Listener, since: number | undefined): Promise<Response> {
    // Counted before any wait, so that the limit holds when many connect at the same time.
    const leave = this.#limit.take(whoIs(listener.session));
    try {
      const stream = await this.#begin(listener, since);
      stream.whenClosed(leave);
      return stream.response;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #begin({ session, signal, reader }: Listener, since: number | undefined): Promise<EventStream> {
    // A person who is no longer a member is refused, instead of getting a stream without events.
    const unread = await this.#ask(session);
    if (this.#position === 0) await this.#poll();
    const resumes = since !== undefined && Math.abs(this.#position - since) <= longestResume;
    const stream = new EventStream(resumes ? since : this.#position, this.#endOf(session, signal), reader);
    stream.announce(resumes || since === undefined ? "ready" : "reset");
    stream.note(unread);
    this.#join(session, stream);
    if (!this.#polling) void this.#keepPolling();
    return stream;
  }

  /** Throws when the key or the session was revoked, or the member was removed. */
  #ask(session: Session): Promise<Unread> {
    return readUnread(this.#parts.database, session);
  }

  get connections(): number {
    return [...this.#audiences.values()].reduce((sum, { streams }) => sum + streams.size, 0);
  }

  #endOf({ claims }: Session, signal: AbortSignal): AbortSignal {
    const { exp } = claims;
    const leftMs = typeof exp === "number" ? (exp + clockToleranceSeconds) * 1000 - this.#parts.now() : Infinity;
    const lastsMs = Math.max(0, Math.min(this.#options.connectionLastsMs, leftMs));
    return AbortSignal.any([signal, this.#parts.closing, AbortSignal.timeout(Math.ceil(lastsMs))]);
  }

  #join(session: Session, stream: EventStream): void {
    const key = JSON.stringify(session.claims);
    const audience: Audience = this.#audiences.get(key) ?? {
      session,
      ...whoIs(session),
      streams: new Set(),
      reading: false,
      behind: false,
      checking: false,
    };
    this.#audiences.set(key, audience);
    audience.streams.add(stream);
    stream.whenClosed(() => {
      audience.streams.delete(stream);
      if (audience.streams.size === 0 && this.#audiences.get(key) === audience) this.#audiences.delete(key);
    });
    if (stream.position < this.#position) this.#wake(audience);
  }

  /** Runs until nobody is connected. A later client starts at the time it connects, not where this ended. */
  async #keepPolling(): Promise<void> {
    this.#polling = true;
    try {
      await this.#pollWhileConnected();
    } finally {
      this.#polling = false;
      this.#position = 0;
      this.#noticed.clear();
    }
  }

  async #pollWhileConnected(): Promise<void> {
    const { pollMs, heartbeatMs, recheckMs } = this.#options;
    let beatAt = performance.now() + heartbeatMs;
    let recheckAt = performance.now() + recheckMs;
    let failures = 0;
    while (this.connections > 0 && !this.#parts.closing.aborted) {
      const waitMs = failures === 0 ? pollMs : Math.min(longestBackoffMs, pollMs * 2 ** failures);
      await delay(waitMs, undefined, { signal: this.#parts.closing, ref: false }).catch(() => undefined);
      if (this.#parts.closing.aborted || this.connections === 0) return;
      try {
        await this.#poll();
        failures = 0;
      } catch (error) {
        failures += 1;
        this.#report(error);
      }
      if (performance.now() >= recheckAt) {
        recheckAt = performance.now() + recheckMs;
        for (const audience of this.#audiences.values()) this.#recheck(audience);
      }
      if (performance.now() < beatAt) continue;
      beatAt = performance.now() + heartbeatMs;
      for (const { streams } of this.#audiences.values()) for (const stream of streams) stream.beat();
    }
  }

  /** Polls for changes, and wakes the audiences of the workspaces that have any. */
  async #poll(): Promise<void> {
    const workspaces = new Set<string | null>();
    const told = this.#position === 0 ? undefined : await readTold(this.#parts.database, this.#position);
    let since = this.#position === 0 ? farFuture : this.#position;
    // From the first page: a transaction that commits between two pages may belong to the first one.
    let horizon: Horizon | undefined;
    for (;;) {
      const recent = await readAllEvents(this.#parts.database, since);
      horizon ??= recent;
      for (const event of recent.events) {
        if (!this.#noticed.has(event.id)) workspaces.add(event.workspace_id);
        this.#noticed.set(event.id, event.at);
      }
      const last = recent.events.at(-1);
      if (recent.full && last !== undefined && last.at > since) {
        since = last.at;
        continue;
      }
      this.#position = this.#watermark.advance(horizon);
      break;
    }
    for (const [id, at] of this.#noticed) if (at < this.#position) this.#noticed.delete(id);
    for (const audience of this.#audiences.values()) {
      if (audience.behind || workspaces.has(audience.workspaceId)) this.#wake(audience);
      // A read in progress for them may be older than this position, and must still be sent.
      else if (!audience.reading) for (const stream of audience.streams) stream.tell([], this.#position);
      if (told?.has(audience) === true) this.#recheck(audience);
    }
  }

  /** However often it is woken while it reads, it reads only one more time. */
  #wake(audience: Audience): void {
    audience.behind = true;
    if (audience.reading) return;
    audience.reading = true;
    void this.#reads.use(async () => {
      while (audience.behind && audience.streams.size > 0) {
        audience.behind = false;
        if (!(await this.#tell(audience))) break;
      }
      audience.reading = false;
    });
  }

  /** Checks whether its session is still valid, and counts what is unread. */
  #recheck(audience: Audience): void {
    if (audience.checking) return;
    audience.checking = true;
    void this.#reads.use(async () => {
      try {
        if (audience.streams.size === 0) return;
        const unread = await this.#ask(audience.session);
        for (const stream of audience.streams) stream.note(unread);
      } catch (error) {
        if (!endsSession(error, audience)) this.#report(error);
      } finally {
        audience.checking = false;
      }
    });
  }

  /** False when it could not be read; then the next poll tries again. */
  async #tell(audience: Audience): Promise<boolean> {
    const complete = this.#position;
    let cursor = Math.min(...[...audience.streams].map((stream) => stream.position));
    try {
      for (;;) {
        const { events, full } = await readEvents(this.#parts.database, audience.session, cursor);
        const last = events.at(-1)?.at ?? cursor;
        const more = full && last > cursor;
        for (const stream of audience.streams) stream.tell(events, more ? Math.min(complete, last) : complete);
        if (!more) return true;
        await Promise.all([...audience.streams].map((stream) => stream.read()));
        cursor = last;
      }
    } catch (error) {
      if (endsSession(error, audience)) return false;
      this.#report(error);
      audience.behind = true;
      return false;
    }
  }

  #report(error: unknown): void {
    const { code, sqlState } = toHeadroomError(error);
    this.#parts.log({ level: "warn", event: "live_updates_failed", code, sqlState });
  }
}

/** Closes the streams when their session is refused; false for any other failure. */
function endsSession(error: unknown, { streams }: Audience): boolean {
  const { httpStatus } = toHeadroomError(error);
  if (httpStatus !== 401 && httpStatus !== 403) return false;
  for (const stream of streams) stream.close();
  return true;
}

/** A time in the year 2200, after which there are no events: the query returns only the horizon. */
const farFuture = 7_258_118_400_000_000;

function withDefaults(options: LiveOptions = {}): Readonly<Record<keyof LiveOptions, number>> {
  return {
    pollMs: options.pollMs ?? defaults.pollMs,
    heartbeatMs: options.heartbeatMs ?? defaults.heartbeatMs,
    connectionLastsMs: options.connectionLastsMs ?? defaults.connectionLastsMs,
    recheckMs: options.recheckMs ?? defaults.recheckMs,
    maxPerMember: options.maxPerMember ?? defaults.maxPerMember,
    maxPerWorkspace: options.maxPerWorkspace ?? defaults.maxPerWorkspace,
    maxConnections: options.maxConnections ?? defaults.maxConnections,
  };
}
