/** What relays and servers do beside sending, layer by layer, and what they read for their metrics. A layer's task or gauge is added here. */
import { moneyGauges } from "../../billing/index.ts";
import { timersTask } from "../../capacity/timers.ts";
import { notifyGauges, releaseTasks } from "../../notify/index.ts";
import type { GaugeSource } from "../../outbox/upkeep/engine-tasks.ts";
import type { Task } from "../../outbox/upkeep/task.ts";
import { jobGauges } from "../../provisioning/index.ts";
import { raiseAlerts } from "../../webhooks/alerts.ts";

/** Timers before the release of what people are told: they tell people things. */
export const relayTasks: readonly Task[] = [raiseAlerts, timersTask(), ...releaseTasks()];

export const relayGauges: readonly GaugeSource[] = [jobGauges, moneyGauges, notifyGauges];
