/** Alert rules and dashboard refer to metrics that a real relay exports, and every alert has its runbook. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { probeRail } from "../../outbox/relay/rails.ts";
import { createStage } from "../../outbox/relay/stage.ts";
import { misnamed } from "../../../helpers/metric-names.ts";
import { startHeadroom } from "../harness.ts";

const stage = await createStage();
const root = new URL("../../../../", import.meta.url);
const rules = await readFile(new URL("deploy/prometheus/alerts.yml", root), "utf8");

/** The expression after `expr:`, on the same line or indented below it. */
function ruleExpressions(text: string): string[] {
  return [...text.matchAll(/^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm)].map((match) => match[1] ?? match[2] ?? "");
}

const dashboardSchema = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })),
  templating: z.object({ list: z.array(z.looseObject({ definition: z.string().optional() })) }),
});

async function dashboardExpressions(): Promise<string[]> {
  const text = await readFile(new URL("deploy/grafana/outbox.json", root), "utf8");
  const dashboard = dashboardSchema.parse(JSON.parse(text));
  return [
    ...dashboard.panels.flatMap((panel) => panel.targets.map((target) => target.expr)),
    ...dashboard.templating.list.flatMap((variable) => variable.definition ?? []),
  ];
}

/** Words of the query language and labels, which are not metrics. */
const otherWords = new Set(
  "sum max min rate delta and or by absent histogram_quantile label_values on stream state class channel status quantile le task time".split(
    " ",
  ),
);

function metricsIn(expression: string): string[] {
  const bare = expression.replaceAll(/"[^"]*"/g, "").replaceAll(/\[[^\]]*\]/g, "");
  return [...bare.matchAll(/[a-z][a-z0-9_]*/g)].map((match) => match[0]).filter((word) => !otherWords.has(word));
}

/** Which states an expression selects, each with its metric. */
function statesIn(expression: string): [metric: string, state: string][] {
  return [...expression.matchAll(/([a-z][a-z0-9_]*)\{state=~?"([^"]+)"\}/g)].flatMap(([, metric = "", states = ""]) =>
    states.split("|").map((state): [string, string] => [metric, state]),
  );
}

test("every metric named in the rules and on the dashboard is in a real scrape", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  await stage.enqueue({ stream, rail: rail.name, destination: "somewhere" });
  const env = { DATABASE_URL: stage.db.as("headroom_executor").url };
  const relay = startHeadroom(["relay", "--metrics-port", "0", "--json"], { env });
  const ready = JSON.parse(await relay.line((line) => line.includes("relay_ready"))) as { metricsUrl: string };
  const scrape = await (await fetch(`${ready.metricsUrl}/metrics`)).text();
  await relay.end();
  const exported = new Set(scrape.split("\n").flatMap((line) => /^([a-z][a-z0-9_]*)[{ ]/.exec(line)?.[1] ?? []));

  const expressions = [...ruleExpressions(rules), ...(await dashboardExpressions())];
  const named = new Set(expressions.flatMap(metricsIn));
  expect(named.size).toBeGreaterThan(15);
  expect([...named].filter((name) => !exported.has(name))).toEqual([]);
  // And every exported metric is shown somewhere.
  const shown = new Set((await dashboardExpressions()).flatMap(metricsIn));
  expect([...exported].filter((name) => !shown.has(name))).toEqual([]);
  const documented = await readFile(new URL("docs/operating/README.md", root), "utf8");
  const families = [...scrape.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1] ?? "");
  expect(families.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  expect(misnamed(scrape)).toEqual([]);
  // Each state that a rule uses exists from the start, at zero.
  for (const state of ["RETRYABLE", "DISPATCHING"]) expect(scrape).toContain(`attempts_total{state="${state}"} 0`);
  const selected = expressions.flatMap(statesIn);
  expect(selected).toEqual(expect.arrayContaining([["headroom_billing_waiting", "finding"]]));
  expect(selected.filter(([metric, state]) => !scrape.includes(`${metric}{state="${state}"`))).toEqual([]);
});

test("a name is wrong without the prefix, in another unit, or when a counter is declared a gauge", () => {
  const wrong = ["# TYPE rows gauge", "# TYPE headroom_wait_ms gauge", "# TYPE headroom_ahead_days gauge"];
  const more = [
    "# TYPE headroom_size_kilobytes gauge",
    "# TYPE headroom_rows counter",
    "# TYPE headroom_rows_total gauge",
  ];
  const right = ["# TYPE headroom_wait_seconds gauge", "# TYPE headroom_rows_total counter", "# TYPE dlq_depth gauge"];
  expect(misnamed([...wrong, ...more, ...right].join("\n"))).toEqual([
    "rows",
    "headroom_wait_ms",
    "headroom_ahead_days",
    "headroom_size_kilobytes",
    "headroom_rows",
    "headroom_rows_total",
  ]);
});

test("the names of the required metrics are exactly these", async () => {
  const relay = await stage.run({ rails: [], streams: [] });
  const scrape = await relay.metrics();
  const types = new Map([...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((match) => [match[1], match[2]]));
  expect(Object.fromEntries(types)).toMatchObject({
    outbox_pending_depth: "gauge",
    oldest_pending_age_seconds: "gauge",
    notify_wakeups_total: "counter",
    claim_batches_total: "counter",
    dispatch_latency_ms: "histogram",
    attempts_total: "counter",
    dlq_depth: "gauge",
    reaper_requeues_total: "counter",
    stuck_dispatching_count: "gauge",
  });
  const helped = new Set([...scrape.matchAll(/^# HELP (\S+) \S/gm)].map((match) => match[1]));
  expect([...types.keys()].filter((name) => !helped.has(name))).toEqual([]);
});

test("every alert has a runbook, and every runbook an alert", async () => {
  const alerts = [...rules.matchAll(/^ {6}- alert: (\S+)$/gm)].map((match) => match[1] ?? "");
  expect(alerts.length).toBeGreaterThanOrEqual(5);
  expect(ruleExpressions(rules)).toHaveLength(alerts.length);
  const runbooks = await readFile(new URL("docs/operating/alerts.md", root), "utf8");
  const sections = [...runbooks.matchAll(/^## ((?:Outbox|Provisioning|Billing|Notifications)\S+)$/gm)].map(
    (match) => match[1] ?? "",
  );
  expect(sections.toSorted()).toEqual(alerts.toSorted());
  for (const alert of alerts) expect(rules).toContain(`runbook: docs/operating/alerts.md#${alert.toLowerCase()}`);
});
