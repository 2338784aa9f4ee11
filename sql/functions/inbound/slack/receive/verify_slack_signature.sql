-- Whether Slack signed this body: version 0 of its scheme, over exactly the bytes that came, within five minutes by the clock of
-- the database, compared in constant time.
create or replace function inbound.verify_slack_signature(p_body text, p_timestamp text, p_signature text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_body is null or inbound.slack_stamp_problem(p_timestamp, p_signature) is not null then
    return false;
  end if;
  return inbound.signed_by('SLACK_SIGNING_SECRET', convert_to('v0:' || p_timestamp || ':' || p_body, 'UTF8'),
                           decode(substr(p_signature, 4), 'hex'));
end
$$;
comment on function inbound.verify_slack_signature(text, text, text) is 'Whether the body carries a fresh signature of Slack.';
