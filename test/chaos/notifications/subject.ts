/** Notifications. */
import { runPlanted } from "../kit/planted.ts";
import type { Subject } from "../kit/subject.ts";
import { planted } from "./planted.ts";
import { runNotifications } from "./run.ts";
import { notificationsSettings } from "./settings.ts";

export const notifications: Subject = {
  flag: { name: "notifications", about: "attacks notifications, instead of the delivery engine" },
  run: (flags, hooks) => runNotifications(notificationsSettings(flags), hooks),
  planted: (options) => runPlanted(planted, options),
};
