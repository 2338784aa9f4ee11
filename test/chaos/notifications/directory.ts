/**
 * The people on the stage, and settings with short times.
 */
export const sender = "Headroom <capacity@headroom.example>";
export const leaseSeconds = 8;

export interface Somebody {
  readonly id: string;
  readonly email: string;
  readonly slackUserId: string;
}

/** One in twelve has an address that no server knows. */
export function crowdOf(count: number): readonly Somebody[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `p${at + 1}`,
    email: `p${at + 1}@${at % 12 === 11 ? "bounces" : "people"}.example`,
    slackUserId: `UP${String(at + 1).padStart(6, "0")}`,
  }));
}

/** The address of a person's own webhook; the sandbox finds the person by the second part of the path. */
export const webhookOf = (place: string): string => `https://hooks.slack.com/services/T0SANDBOX/${place}/secret`;

export function people(everybody: readonly Somebody[]): string {
  const values = everybody.map(
    ({ id, email, slackUserId }) => `('acme', '${id}', '${id}', '${email}', '${slackUserId}', '{}')`,
  );
  return `
insert into directory.workspaces (id, name, public_url) values ('acme', 'Acme', 'https://headroom.example');
insert into directory.members (workspace_id, id, display_name, email, slack_user_id, roles) values
  ${values.join(",\n  ")};
insert into directory.members (workspace_id, id, display_name, roles) values ('acme', 'ada', 'Ada', '{admin}');
select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', '${"c".repeat(40)}');
update outbox.streams set lease_seconds = ${leaseSeconds}, backoff_base_ms = 100, backoff_factor = 2, backoff_cap_ms = 1000
 where name = 'people';
update outbox.limits set failure_threshold = 20, open_base_ms = 300 where name = '*';
update outbox.limits set min_interval_ms = 20 where name = 'slack:';
`;
}
