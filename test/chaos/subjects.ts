/** The subjects of chaos, each in its own folder: actors, faults, an oracle, and bugs that it must find. */
import { engine } from "./engine/subject.ts";
import type { Subject } from "./kit/subject.ts";
import { notifications } from "./notifications/subject.ts";
import { lives } from "./payments/lives/subject.ts";
import { payments } from "./payments/subject.ts";
import { provisioning } from "./provisioning/subject.ts";

export const subjects: readonly Subject[] = [engine, provisioning, payments, lives, notifications];
