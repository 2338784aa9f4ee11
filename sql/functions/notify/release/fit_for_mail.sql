-- What one mail tells of, shortened where a mail could not be made of all of it: paragraphs are joined, and of several things each is cut
-- and loses an address that is very long. What waits together must not be lost together for being much. A stream takes 262,144 bytes;
-- a character takes eight at most in text and HTML, a paragraph as much as sixteen of them, and what is around a thing as sixty.
create or replace function notify.fit_for_mail(p_told notify.notifications[]) returns notify.notifications[]
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_count constant integer := cardinality(p_told);
  v_chars integer := 0;
  v_each notify.notifications;
  v_short notify.notifications[] := '{}';
begin
  foreach v_each in array p_told loop
    v_chars := v_chars + length(v_each.body) + 8 * (length(v_each.body) - length(replace(v_each.body, E'\n\n', '')))
      + 2 * length(v_each.title) + coalesce(length(v_each.action_url), 0) + 60;
  end loop;
  if v_chars <= 30000 then
    return p_told;
  end if;
  foreach v_each in array p_told loop
    v_each.body := regexp_replace(v_each.body, '\n{2,}', E'\n', 'g');
    if v_count > 1 then
      v_each.body := notify.render_text(v_each.body, greatest(8000 / v_count, 100));
      v_each.title := notify.render_text(v_each.title, 80);
      v_each.action_url := case when length(v_each.action_url) <= 200 then v_each.action_url end;
    end if;
    v_short := array_append(v_short, v_each);
  end loop;
  return v_short;
end
$$;
comment on function notify.fit_for_mail(notify.notifications[]) is 'What one mail tells of, shortened where it would be too much.';
