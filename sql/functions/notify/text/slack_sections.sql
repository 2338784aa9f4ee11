-- A title and a text as sections of a message in Slack, escaped. Slack takes 3000 units in a section and some 13,000 in a message, of which
-- one text gets at most 9000: only a longer one is cut. A section ends at a line or a word if there is one, and one unit of each is kept
-- for the dots of a cut.
create or replace function notify.slack_sections(p_title text, p_body text, out sections text[], out cut boolean)
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := format(E'*%s*\n', notify.slack_text(p_title, 1200));
  v_rest text := p_body;
  v_left integer := 9000;
  v_room integer;
  v_next text;
  v_units integer;
begin
  sections := '{}';
  loop
    v_room := least(2999 - notify.units(v_text), v_left);
    v_next := left(v_rest, v_room);
    loop
      v_units := notify.units(notify.slack_text(v_next, 100000));
      exit when v_units <= v_room;
      v_next := left(v_next, greatest(1, least(length(v_next) - 1, length(v_next) * v_room / v_units)));
    end loop;
    if length(v_next) < length(v_rest) then
      v_next := coalesce(substring(v_next from '^.+\n'), substring(v_next from '^.+\s'), v_next);
    end if;
    v_rest := substr(v_rest, length(v_next) + 1);
    v_left := v_left - v_units;
    -- Less than this is not worth a section.
    cut := v_rest <> '' and v_left < 100;
    if v_text <> '' or cut or v_next ~ '\S' then
      sections := sections || (v_text || notify.slack_text(v_next, 100000) || case when cut then '…' else '' end);
    end if;
    exit when v_rest = '' or cut;
    v_text := '';
  end loop;
end
$$;
comment on function notify.slack_sections(text, text) is 'A title and a text as sections for Slack, and whether the text was cut.';
