-- The content of a line of capacity.tells for a request with these values, for the channels of the line.
create or replace function capacity.content_of(p_context capacity.context, p_rule capacity.tell, p_values jsonb) returns notify.content
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_text record := notify.filled(p_rule.title, p_rule.body, p_rule.their_title, p_rule.their_body, p_values);
  v_content notify.content := notify.content(
    p_rule.category, v_text.title, v_text.body, p_rule.channels, p_rule.priority, (p_context.request).id, p_context.cause);
begin
  v_content.critical := p_rule.critical;
  return v_content;
end
$$;
comment on function capacity.content_of(capacity.context, capacity.tell, jsonb) is 'The content of a line of capacity.tells for a request.';
