-- The identity of a receipt. Events have an id; a click, a command or a form has a trigger, which serves as one: it stays the same
-- when Slack sends it again, and is stored only as a hash. Without either, Slack's signature serves, which covers the exact bytes and the
-- time of signing: unlike a digest of the text, it cannot be guessed without the secret.
create or replace function inbound.slack_receipt_id(p_receipt jsonb, p_signature text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return (p_receipt ->> 'kind') || ':' || coalesce(p_receipt ->> 'event_id', encode(sha256(convert_to(
    coalesce((p_receipt ->> 'trigger') || ' ' || (p_receipt ->> 'user'), p_signature), 'UTF8')), 'hex'));
end
$$;
comment on function inbound.slack_receipt_id(jsonb, text) is 'The id by which a receipt of Slack is handled once.';
