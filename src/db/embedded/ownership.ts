/**
 * Who owns a running embedded server: one session that holds an advisory lock for as long as its process lives.
 *
 * A lock file with a pid would outlive kill -9 and would be wrong after pids are reused; a session ends with its process, whatever
 * ends that. So a server whose owner was killed can be told from one that is in use, and be adopted.
 */
import { Client } from "pg";
import { setTimeout as delay } from "node:timers/promises";
import { HeadroomError } from "../errors.ts";

/** Any number that nothing else locks in the maintenance database. */
const ownerLock = "7305843009213693951";
const ownerName = "headroom owner, process ";

export interface Ownership {
  /** From now on the loss of the lock is expected: the server will be stopped. */
  retire(): void;
  /** Closes the session. */
  release(): Promise<void>;
}

/** Takes ownership, or throws an error that says who has it in `home`. */
export async function takeOwnership(url: string, home: string): Promise<Ownership> {
  let client = await connect(url);
  const over = new AbortController();
  try {
    await lockOrExplain(client, home);
  } catch (error) {
    await client.end();
    throw error;
  }
  // A crash of the server or a terminated backend releases the lock; we take it again as soon as possible.
  const watch = (watched: Client): void => {
    watched.once("end", () => {
      if (!over.signal.aborted) void regain();
    });
  };
  const regain = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const fresh = await connect(url).catch(() => undefined);
      if (fresh !== undefined) {
        while (!over.signal.aborted && !(await tryLock(fresh).catch(() => true)))
          await delay(1000, undefined, { ref: false });
        client = fresh;
        if (over.signal.aborted) await fresh.end().catch(() => undefined);
        else watch(fresh);
        return;
      }
      await delay(1000, undefined, { ref: false });
    }
  };
  watch(client);
  return {
    retire: () => over.abort(),
    async release() {
      over.abort();
      await client.end().catch(() => undefined);
    },
  };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: `${ownerName}${process.pid}`, keepAlive: true });
  // Without a listener a lost connection would end the process; the `end` event does the rest.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

const holdersOfLock = `pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and ((l.classid::bigint << 32) | l.objid::bigint) = $1`;

/** Any login can take an advisory lock, but only a superuser can own a server: another login that holds this one is disconnected. */
async function tryLock(client: Client): Promise<boolean> {
  await client.query(
    `select pg_terminate_backend(l.pid) from ${holdersOfLock}
       and not exists (select from pg_roles r where r.oid = a.usesysid and r.rolsuper)`,
    [ownerLock],
  );
  const result = await client.query<{ locked: boolean }>("select pg_try_advisory_lock($1) as locked", [ownerLock]);
  return result.rows[0]?.locked === true;
}

async function lockOrExplain(client: Client, home: string): Promise<void> {
  // The session of an owner that was just killed may take a while to end.
  const deadline = performance.now() + 1500;
  for (;;) {
    if (await tryLock(client)) return;
    if (performance.now() > deadline) break;
    await delay(50);
  }
  const holders = await client.query<{ application_name: string }>(
    `select a.application_name from ${holdersOfLock} and l.granted`,
    [ownerLock],
  );
  // The name is chosen by the session, and ends up in a command that the user types.
  const holder = /\d+$/.exec(holders.rows[0]?.application_name ?? "")?.[0] ?? "unknown";
  throw new HeadroomError("already_running", `Process ${holder} already runs on the data in ${home}.`, {
    hint: `Use that one, stop it (kill ${holder}), or start this one with another data folder.`,
  });
}
