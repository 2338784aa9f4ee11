/**
 * The inbox of the member who is signed in. GET shows it and changes nothing: opening it marks nothing as read.
 *
 * Owns: the path from the page to the database and back. Does not own: the words (pages/inbox.ts), nor whose notifications they are.
 */
import { z } from "zod";
import { call } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import { inboxPage, type InboxItem } from "../pages/inbox.ts";
import { pageResponse } from "../pages/page.ts";
import { readForm } from "../request/form.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";

const path = "/inbox";
const pageSize = 30;

export function inboxRoutes(): RouteEntry[] {
  const page = { path, credentials: "member", errors: "page" } as const;
  return [
    defineRoute({
      ...page,
      method: "GET",
      summary: "The inbox of the member who is signed in, as a page.",
      handler: show,
    }),
    defineRoute({
      ...page,
      method: "POST",
      limits: { bodyBytes: 4_096 },
      skipsDatabase: true,
      summary: "Marks notifications as read: a form with action=read and id, or action=all and before.",
      handler: mark,
    }),
  ];
}

async function show(context: RouteContext): Promise<Response> {
  const { searchParams } = context.url;
  const olderThan = idOf(searchParams.get("older_than"));
  const about = aboutOf(searchParams.get("about"));
  const { rows, state } = await context.transaction(
    async (client) => ({
      // One row more than is shown tells whether there are older ones.
      rows: await call(client, "public.list_inbox", { p_older_than: olderThan, p_limit: pageSize + 1, p_about: about }),
      state: await call(client, "public.unread_notifications", {}),
    }),
    { readOnly: true },
  );
  const items = rows.slice(0, pageSize).map((row): InboxItem => ({
    id: row.id ?? "",
    title: row.title ?? "",
    body: row.body ?? "",
    actionUrl: row.action_url,
    createdAt: row.created_at ?? new Date(0),
    readAt: row.read_at,
  }));
  const last = items.at(-1);
  const older =
    rows.length > pageSize && last !== undefined
      ? `${path}?${new URLSearchParams({ older_than: last.id, ...(about !== undefined && { about }) }).toString()}`
      : undefined;
  const done = doneWords.get(searchParams.get("done") ?? "");
  return pageResponse(inboxPage({ items, ...state, older, paged: olderThan !== undefined, about, done }));
}

const doneWords: ReadonlyMap<string, string> = new Map([
  ["read", "It is marked as read."],
  ["all", "All of them are marked as read."],
]);

function idOf(text: string | null): string | undefined {
  if (text === null) return undefined;
  const parsed = z.uuid().safeParse(text);
  if (parsed.success) return parsed.data;
  throw new HeadroomError("invalid_input", "This is not an address that the page gave.", {
    hint: "Open the inbox again.",
  });
}

/** The id of a request, as its messages link to it. */
function aboutOf(text: string | null): string | undefined {
  return text === null || text === "" ? undefined : text.slice(0, 100);
}

/** The page's times have milliseconds, the database's microseconds, so this means up to the end of that millisecond. */
function momentOf(text: string): Date {
  const time = new Date(text);
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) && !Number.isNaN(time.getTime())) {
    return new Date(time.getTime() + 1);
  }
  throw new HeadroomError("invalid_input", "This is not a moment that the page gave.", {
    hint: "Open the inbox again.",
  });
}

const markSchema = z.discriminatedUnion("action", [
  z.object({ action: z.literal("read"), id: z.uuid() }),
  z.object({ action: z.literal("all"), before: z.string() }),
]);

async function mark(context: RouteContext): Promise<Response> {
  const parsed = markSchema.safeParse(await readForm(context));
  if (!parsed.success) {
    throw new HeadroomError("invalid_input", "This does not say what to mark as read. Nothing was changed.", {
      hint: "Open the inbox again.",
    });
  }
  const { data } = parsed;
  await context.transaction(async (client) => {
    if (data.action === "read") await call(client, "public.mark_notification_read", { p_id: data.id });
    else await call(client, "public.mark_all_notifications_read", { p_before: momentOf(data.before) });
  });
  // A redirect to the page, so that reloading it does not send the form again.
  return new Response(null, { status: 303, headers: { location: `${path}?done=${data.action}` } });
}
