/** Notifies a thousand people by three channels, steadily and all at once; arrivals are counted at the receiver. */
import type { Part, ReportRow } from "../model.ts";
import { againstReference, plainRow } from "./rows.ts";

const PER_SECOND = 500;
const BACKLOG = 100_000;
const LOST_AND_DOUBLED = ["email lost", "slack lost", "in-app doubled", "email doubled", "slack doubled"] as const;

export const notificationsPart: Part = {
  name: "notifications",
  about: "500 deliveries a second for a minute to 1,000 people by three channels, and 100,000 messages queued at once",
  fullOnly: true,
  weight: 30,
  suites: () => [
    {
      id: "headroom/notifications",
      suite: "notifications",
      timeoutMs: 1_500_000,
      rounds: 1,
      params: { people: 1_000, perSecond: PER_SECOND, seconds: 60, backlog: BACKLOG, relays: 2, drainMs: 1_200_000 },
    },
  ],
  rows(results) {
    const steady = "notifications/steady";
    const wrong = (measure: string): number | null =>
      LOST_AND_DOUBLED.reduce<number | null>((sum, name) => {
        const count = results.detail(measure, "headroom", name);
        return sum === null || count === null ? null : sum + count;
      }, 0);
    return [
      againstReference({
        part: "notifications",
        label: "deliveries a second over a minute, 1,000 people, three channels",
        unit: "deliveries/s",
        ours: results.value(steady, "headroom"),
        reference: PER_SECOND,
        referenceLabel: "what was told",
        comparison: ">=",
        // Messages in flight when the minute ends arrive in the seconds after it.
        target: 0.98,
      }),
      ...(["email", "slack"] as const).map((channel): ReportRow => {
        const value = results.detail(steady, "headroom", `${channel} p95Ms`);
        const label = `from told to arrived by ${channel}, p95`;
        return plainRow({
          part: "notifications",
          label,
          unit: "ms",
          values: { headroom: value },
          ratio: null,
          comparison: "<=",
        });
      }),
      plainRow({
        part: "notifications",
        label: `messages a second, ${BACKLOG / 1_000},000 queued at once`,
        unit: "messages/s",
        values: { headroom: results.value("notifications/backlog", "headroom") },
        ratio: null,
        comparison: ">=",
      }),
      ...[steady, "notifications/backlog"].map((measure) =>
        plainRow({
          part: "notifications",
          label: `lost or doubled, ${measure === steady ? "steadily" : "all at once"}`,
          unit: "messages",
          values: { headroom: wrong(measure) },
          ratio: wrong(measure),
          comparison: "<=",
          target: 0,
        }),
      ),
    ];
  },
};
