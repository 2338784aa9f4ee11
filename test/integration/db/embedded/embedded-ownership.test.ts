/** A lock says who owns a running server. Any login could take it, but one that is not a superuser does not keep it. */
import { expect, onTestFinished, test } from "vitest";
import { takeOwnership } from "../../../../src/db/embedded/ownership.ts";
import { createTestDatabase } from "../../../helpers/database.ts";

test("a login that holds the owner's lock is disconnected; another owner is not", async () => {
  const db = await createTestDatabase();
  const hostile = await db.as("headroom_ingest").connect();
  const ended = new Promise<void>((fulfil) => hostile.once("end", () => fulfil()));
  hostile.on("error", () => undefined);
  await hostile.query("select pg_advisory_lock(7305843009213693951)");
  const owner = await takeOwnership(db.superuserUrl, "/data");
  onTestFinished(() => owner.release());
  await ended;
  await expect(takeOwnership(db.superuserUrl, "/data")).rejects.toMatchObject({ code: "already_running" });
});
