-- Text from people inside a Slack message: what Slack reads as markup (&, < and >: links, mentions of everybody) is escaped, and the limit
-- applies to the escaped text. A cut inside an escape removes the rest of that escape.
create or replace function notify.slack_text(p_text text, p_most integer) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := p_text;
begin
  if octet_length(p_text) <= p_most and p_text !~ '[^\u0020-\u0025\u0027-\u003b\u003d\u003f-\u007e]' then
    return p_text;
  end if;
  if v_text ~ '[&<>]' then
    v_text := replace(replace(replace(left(v_text, p_most + 1), '&', '&amp;'), '<', '&lt;'), '>', '&gt;');
  end if;
  v_text := notify.render_text(v_text, p_most);
  return case when v_text like '%…' then regexp_replace(v_text, '&[a-z]{0,3}…$', '…') else v_text end;
end
$$;
comment on function notify.slack_text(text, integer)
  is 'A text escaped for Slack and cut to a number of UTF-16 units. Nullable: result.';
