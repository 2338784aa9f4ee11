-- The help of the command, for people who ask or mistype. Pure.
create or replace function inbound.slack_help(p_first text default null) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return concat_ws(E'\n\n', notify.slack_text(p_first, 1500), concat_ws(E'\n',
    '*What you can type after `/capacity`*',
    '• `/capacity` opens a form; what you write after it, such as `/capacity 32XL x4 us-east-1`, fills it in.',
    '• `/capacity create 32XL x4 us-east-1 for Acme Corp by 2026-12-01 days 30 cost 12000 owner @cora group infra` submits at once.',
    '   Only size and region are required. The customer''s link goes to `email a@b.example`.'
    ' Also: `ttl 7` (days to answer), `replaces CR-2026-000042`, and at the end `because` and why it is needed.',
    '• `/capacity list` shows what waits for you and what you asked for; `/capacity show CR-2026-000042` shows one.',
    '• `/capacity approve CR-…`, `/capacity reject CR-… why`; with `commercial` or `technical` after the id if you may give both.',
    '• `/capacity confirm CR-…`, `/capacity decline CR-… why`: the customer''s answer, recorded by the commercial owner.',
    '• `/capacity address CR-… a@b.example` sets the customer''s address, `/capacity link CR-…` mails them the link again.',
    '• `/capacity nudge CR-…` reminds the people your request waits for; `/capacity note CR-… text` adds a note to it.',
    '• `/capacity retry CR-… why` tries again to provision what has failed.',
    '• `/capacity cancel CR-… why`'));
end
$$;
comment on function inbound.slack_help(text) is 'The help of the slash command, after an optional first sentence.';
