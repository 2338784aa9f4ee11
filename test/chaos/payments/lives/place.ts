/**
 * Where databases for lives come from: one is prepared, and each run of lives gets a copy of it.
 */
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { migrate } from "../../../../src/db/migrate.ts";
import { CrashablePostgres } from "../../crashable-postgres.ts";
import { people, password, secretKey } from "../directory.ts";
import { makeClockMovable } from "./clock.ts";

export interface LifeDatabase {
  readonly url: string;
  as(role: "headroom_executor" | "headroom_gateway"): string;
  drop(): Promise<void>;
}

export interface Place {
  open(): Promise<LifeDatabase>;
  close(): Promise<void>;
}

const template = "lives_template";
/** Offers lead back to an address that nobody visits. */
const headroomUrl = "http://127.0.0.1:9";

const more = `
insert into directory.members (workspace_id, id, display_name, roles) values ('acme', 'ada', 'Ada', '{admin}');
`;

export async function openPlace(): Promise<Place> {
  await using undo = new AsyncDisposableStack();
  const postgres = await CrashablePostgres.start();
  undo.defer(() => postgres.close());
  const url = await postgres.createDatabase(template);
  await withClient(url, async (client) => {
    await client.query("alter system set fsync = off");
    await client.query("alter system set synchronous_commit = off");
    await client.query("select pg_reload_conf()");
    await migrate(client);
    await client.query("select set_config('headroom.secret_key', $1, false)", [secretKey]);
    await client.query(people(headroomUrl) + more);
    await makeClockMovable(client);
  });
  undo.move();
  const control = (text: string): Promise<void> =>
    withClient(postgres.urlFor("postgres"), async (client) => void (await client.query(text)));
  return {
    async open() {
      const name = `lives_${randomBytes(4).toString("hex")}`;
      await control(`create database ${name} template ${template} strategy file_copy`);
      const own = postgres.urlFor(name);
      return {
        url: own,
        as: (role) => Object.assign(new URL(own), { username: role, password }).href,
        drop: () => control(`drop database ${name} with (force)`),
      };
    },
    close: () => postgres.close(),
  };
}

async function withClient(connectionString: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
