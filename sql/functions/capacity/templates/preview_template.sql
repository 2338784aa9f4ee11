-- The messages of a template for each sample, by each of its channels: a customer gets only mail.
create or replace function capacity.preview_template(p_workspace_id text, p_name text, p_title text, p_body text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_audience text := (select k.audience from capacity.known_templates() k where k.name = p_name);
begin
  return (
    select jsonb_agg(jsonb_build_object('sample', s.sample, 'channels', (
             select jsonb_object_agg(c.channel, notify.preview(
                      p_workspace_id, notify.email_text(notify.fill(p_title, s.vals, 200), 200), notify.fill(p_body, s.vals, 20000),
                      s.link, c.channel, case v_audience when 'customer' then 'buyer@initech.example' else c.sample end,
                      case v_audience when 'customer' then 'Initech' else 'Rita' end))
               from notify.channels c where c.chosen and v_audience = any (c.recipients))) order by s.ordinality)
      from capacity.template_samples(p_workspace_id, p_name) with ordinality s);
end
$$;
comment on function capacity.preview_template(text, text, text, text) is 'The messages of a template for each sample, by each channel.';
