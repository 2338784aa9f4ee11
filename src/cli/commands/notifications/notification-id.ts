/** For arguments: anything that cannot be a notification's id is a usage error. */
import { InvalidArgumentError } from "commander";

export function parseNotificationId(text: string): string {
  const id = text.trim().toLowerCase();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return id;
  throw new InvalidArgumentError("headroom notifications list shows the ids of notifications.");
}
