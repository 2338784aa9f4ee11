/** What relays and servers do besides sending, by layer, and what they read for their metrics. Add a layer's task or gauge here. */
import { moneyGauges } from "../../billing/index.ts";
import { timersTask } from "../../capacity/timers.ts";
import { notifyGauges, releaseTasks } from "../../notify/index.ts";
import type { GaugeSource } from "../../outbox/upkeep/engine-tasks.ts";
import type { Task } from "../../outbox/upkeep/task.ts";
import { jobGauges } from "../../provisioning/index.ts";
import { raiseAlerts } from "../../webhooks/alerts.ts";

/** Timers run before the release of notifications, because they create some. */
export const relayTasks: readonly Task[] = [raiseAlerts, timersTask(), ...releaseTasks()];

export const relayGauges: readonly GaugeSource[] = [jobGauges, moneyGauges, notifyGauges];
