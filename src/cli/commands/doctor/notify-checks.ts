/** Do messages to people get through: is anything due that nobody sends, and do the channels accept messages? */
import type { Client } from "pg";
import { channelFigures, type ChannelFigures } from "../../../notify/index.ts";
import { formatAge } from "../../output.ts";
import { failure, ok, unlessRefused, warning, type Finding } from "./finding.ts";

/** Relays send what is due every few seconds, pg_cron every minute. */
const lateSeconds = 300;
/** The same limits as in the alert NotificationsFailing. */
const leastSuccess = 0.9;
const maxFailed = 5;

export async function checkNotifications(client: Client): Promise<Finding[]> {
  return [await unlessRefused("notifications", channelFigures(client).then(findingOf))];
}

function findingOf(figures: readonly ChannelFigures[]): Finding {
  const [late] = figures
    .filter(({ oldestDueSeconds }) => oldestDueSeconds > lateSeconds)
    .toSorted((left, right) => right.oldestDueSeconds - left.oldestDueSeconds);
  if (late !== undefined) {
    return failure(
      "notifications",
      `Messages by ${late.channel} have been due for ${formatAge(late.oldestDueSeconds)}, and nothing sends them.`,
      "Start a relay (headroom relay), which does; or if pg_cron is installed: select notify.schedule_dispatcher()",
    );
  }
  const failing = figures.find(({ sent, failed }) => failed >= maxFailed && sent / (sent + failed) < leastSuccess);
  if (failing !== undefined) {
    return warning(
      "notifications",
      `Of the last ${failing.sent + failing.failed} messages by ${failing.channel}, ${failing.failed} failed.`,
      "See which, and why: headroom notifications list --status failed",
    );
  }
  const held = figures.reduce((sum, each) => sum + each.held, 0);
  const suppressed = figures.reduce((sum, each) => sum + each.suppressed, 0);
  const waits = held === 0 ? "Nothing waits" : `${held} wait for their time`;
  const closed = suppressed === 0 ? "" : `; ${suppressed} addresses get no mail (headroom notifications suppressions)`;
  return ok("notifications", `${waits}${closed}.`);
}
