-- Tells the customer how it ended, once they had been asked. Reasons were given among colleagues, and stay there.
create or replace function capacity.render_email_closing(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_outcome text := case
    when p_story ->> 'state' = 'COMPLETED' then 'The capacity is ready.'
    when p_story ->> 'state' = 'EXPIRED' then 'The offer has ended, because no answer came in time. Nothing was provisioned.'
    when p_story ->> 'state' = 'FAILED' then 'The capacity could not be provisioned. We will be in touch.'
    when p_story ->> 'event' = 'CUSTOMER_DECLINED' then 'You declined the offer. Nothing was provisioned.'
    else 'The request was cancelled. The link that you were sent no longer works.' end;
begin
  return capacity.email_letter(
    p_story ->> 'email',
    (p_story ->> 'what') || ': ' || capacity.story_state(p_story ->> 'state') || ' (' || (p_story ->> 'id') || ')',
    array[
      coalesce('Hello ' || capacity.email_text(nullif(p_story ->> 'customer', ''), 200) || ',', 'Hello,'),
      -- Whoever came as far as provisioning has paid.
      v_outcome || case when p_story ->> 'state_before' = 'PROVISIONING' and p_story ->> 'state' <> 'COMPLETED'
                             and capacity.story_price(p_story) is not null then ' What you paid goes back to you.' else '' end,
      capacity.email_facts(p_story),
      capacity.email_text(p_story ->> 'workspace_name', 200)]);
end
$$;
comment on function capacity.render_email_closing(jsonb) is 'The payload of the mail that tells the customer how a request ended.';
