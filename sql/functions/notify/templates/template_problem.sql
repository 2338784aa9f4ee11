-- What is wrong with the text of a template, or null. p_variables: the variables that it may contain. It does not check whether the text
-- says enough.
create or replace function notify.template_problem(p_text text, p_most integer, p_variables text[]) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  -- This many are filled in within a millisecond, which delays every decision.
  v_max_tags constant integer := 200;
  v_pieces text[] := (string_to_array(p_text, '{{'))[2:];
  v_piece text;
  v_tag text;
  v_name text;
  v_open text;
begin
  if notify.is_blank(p_text) then
    return 'it is empty';
  elsif length(p_text) > p_most then
    return format('it has %s characters, and may have %s', length(p_text), p_most);
  elsif p_text ~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]' then
    return 'it has control characters, or marks that turn the direction of writing';
  elsif cardinality(v_pieces) > v_max_tags then
    return format('it has %s tags, and may have %s', cardinality(v_pieces), v_max_tags);
  end if;
  foreach v_piece in array v_pieces loop
    v_tag := substring(v_piece from '^([^{}\n]*)\}\}');
    v_name := ltrim(v_tag, '#^/');
    if v_tag is null then
      return format('"{{%s" does not end: a tag is {{name}}, {{#name}}, {{^name}} or {{/name}}', left(split_part(v_piece, E'\n', 1), 40));
    elsif v_tag !~ '^[#^/]?[a-z_]+$' then
      return format('"{{%s}}" is not a tag: a tag is {{name}}, {{#name}}, {{^name}} or {{/name}}, without spaces', left(v_tag, 40));
    elsif v_name like '%\_link' then
      return format('{{%s}} is not a variable: a mail adds its links itself', left(v_name, 40));
    elsif v_name <> all (p_variables) then
      return format('{{%s}} is not one of its variables: %s', left(v_name, 40),
                    coalesce(nullif(array_to_string(p_variables, ', '), ''), 'none'));
    elsif v_tag ~ '^[#^]' then
      if v_open is not null then
        return format('{{%s}} is inside the section of {{%s}}, which has not ended: sections do not nest', v_tag, v_open);
      end if;
      v_open := v_name;
    elsif v_tag like '/%' then
      if v_open is distinct from v_name then
        return format('{{%s}} ends a section that has not begun', v_tag);
      end if;
      v_open := null;
    end if;
  end loop;
  return case when v_open is not null then format('the section of {{%s}} does not end: {{/%s}} is missing', v_open, v_open) end;
end
$$;
comment on function notify.template_problem(text, integer, text[])
  is 'What is wrong with the text of a template. Nullable: p_text, result.';
