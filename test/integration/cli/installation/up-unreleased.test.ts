/** A data folder of `headroom up` from before the first release is refused, with the way to start again. */
import { rm } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { startEmbedded } from "../../../../src/db/embedded.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { makeEnterableFolder } from "../../../helpers/data-folder.ts";
import { headroom } from "../harness.ts";

test("up says where the data of an unreleased version is, and how to start again", { timeout: 120_000 }, async () => {
  const dataDir = await makeEnterableFolder("headroom-unreleased-");
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const server = await startEmbedded({ dataDir, port: 0 });
  await withConnection(server.url, async (client) => {
    await migrate(client, { only: "outbox" });
    await client.query("update headroom.migrations set path = 'migrations/0001_roles.sql' where number = 1");
  });
  await server.stop();
  const outcome = await headroom(["up", "--data-dir", dataDir, "--port", "0", "--database-port", "0"]);
  expect(outcome.status).toBe(1);
  expect(outcome.err).toContain("An unreleased version of Headroom made this database's schema.");
  expect(outcome.err).toContain(`Its data is in ${server.home}.`);
  expect(outcome.err).toContain("--data-dir");
});
