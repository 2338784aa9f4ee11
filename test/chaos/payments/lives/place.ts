/**
 * Creates databases for lives: one is prepared, and each run of lives gets a copy.
 */
import { randomBytes } from "node:crypto";
import { CrashablePostgres } from "../../kit/crashable-postgres.ts";
import { connectTo, prepareDatabase, urlAs } from "../../kit/stage.ts";
import { people } from "../directory.ts";
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
/** Offers return to an address that nobody visits. */
const headroomUrl = "http://127.0.0.1:9";

const more = `
insert into directory.members (workspace_id, id, display_name, roles) values ('acme', 'ada', 'Ada', '{admin}');
`;

export async function openPlace(): Promise<Place> {
  await using undo = new AsyncDisposableStack();
  const postgres = await CrashablePostgres.start();
  undo.defer(() => postgres.close());
  const url = await postgres.createDatabase(template);
  await prepareDatabase(url, {}, async (client) => {
    await client.query("alter system set synchronous_commit = off");
    await client.query("select pg_reload_conf()");
    await client.query(people(headroomUrl) + more);
    await makeClockMovable(client);
  });
  undo.move();
  const control = async (text: string): Promise<void> => {
    const client = await connectTo(postgres.urlFor("postgres"));
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  return {
    async open() {
      const name = `lives_${randomBytes(4).toString("hex")}`;
      await control(`create database ${name} template ${template} strategy file_copy`);
      const own = postgres.urlFor(name);
      return {
        url: own,
        as: (role) => urlAs(own, role),
        drop: () => control(`drop database ${name} with (force)`),
      };
    },
    close: () => postgres.close(),
  };
}
