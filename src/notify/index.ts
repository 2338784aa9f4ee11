/**
 * Notifications: telling people something once, the outcome, and people's preferences; as a table of contents. Every function here
 * is a thin wrapper over one of the database; a refusal is returned as a value (`outcome: "refused"`), a failure is thrown.
 *
 *     import { notify } from "headroom/notify";
 *
 *     const told = await notify(client, {
 *       workspaceId: "default",
 *       member: "rita",
 *       key: "backup-2026-11-16",
 *       title: "The backup is done",
 *       body: "All 14 databases.",
 *     });
 *     if (told.outcome === "refused") throw new Error(told.message);
 */

/** Telling a member something. */
export { notify, type NewNotification, type Told } from "./tell.ts";

/** The outcome of notifications. */
export {
  getNotification,
  listNotifications,
  resend,
  type FoundNotification,
  type ListedNotification,
  type ListedNotifications,
  type ListNotificationsOptions,
  type ResendInput,
} from "./notifications.ts";
export {
  channels,
  statuses,
  type Channel,
  type Notification,
  type NotificationPart,
  type NotificationStatus,
} from "./notification.ts";

/** People's preferences. */
export {
  getPreferences,
  setPreferences,
  setSlackWebhook,
  type CategoryPreferences,
  type Choice,
  type Person,
  type PreferenceChanges,
  type Preferences,
} from "./preferences.ts";

/** What messages say. */
export {
  getTemplate,
  listTemplates,
  previewTemplate,
  resetTemplate,
  setTemplate,
  type FoundTemplate,
  type ListedTemplate,
  type Template,
  type TemplateName,
  type TemplatePreview,
} from "./templates.ts";

/** Addresses to which no mail goes any more. */
export { liftSuppression, listSuppressions, suppressAddress, type Suppression } from "./suppressions.ts";

/** Logins of applications that may tell people things. */
export { addProducer, listProducers, removeProducer, type Producer } from "./producers.ts";

/** Sending what is due; for a relay of your own: `createRelay({ …, upkeepTasks: releaseTasks() })`, and the same for `createDrainer`. */
export {
  releaseBeforeTurns,
  releaseTasks,
  startDispatcher,
  type Dispatcher,
  type DispatcherOptions,
  type ReleaseOptions,
} from "./release.ts";

/** Figures of each channel; for a relay of your own: `createRelay({ …, gauges: [notifyGauges] })`. */
export { channelFigures, notifyGauges, type ChannelFigures } from "./metrics.ts";
