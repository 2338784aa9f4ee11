-- How many of these things one message shows whole, from the first on, at least one: what does not fit goes into the next message, so that
-- nothing is marked as sent that nobody can read. Slack takes fifty blocks and some 13,000 characters, a mail what notify.mail_share()
-- says.
create or replace function notify.how_many_fit(p_told notify.notifications[], p_channel text) returns integer
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_each notify.notifications;
  v_sections text[];
  v_size integer := 0;
  v_blocks integer := 0;
  v_count integer := 0;
begin
  foreach v_each in array p_told loop
    if p_channel = 'slack' then
      v_sections := (notify.slack_sections(v_each.title, v_each.body)).sections;
      v_size := v_size + notify.units(array_to_string(v_sections, '')) + coalesce(length(v_each.action_url), 0) + 100;
      v_blocks := v_blocks + cardinality(v_sections) + 2;
      -- The footer takes one block.
      exit when v_count > 0 and (v_size > 11000 or v_blocks > 49);
    else
      v_size := v_size + notify.mail_share(v_each);
      exit when v_count > 0 and v_size > 30000;
    end if;
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
comment on function notify.how_many_fit(notify.notifications[], text) is 'How many things one message shows whole, at least one.';
