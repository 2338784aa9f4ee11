-- Reads the terms of a request from what somebody typed: `32XL x4 us-east-1 for Acme Corp by 2026-12-01 days 30 cost 12000 owner @cora
-- group infra`. Forgiving: size, number and region in any order, words and `word=value` alike, quotes of every kind, and Slack's
-- markup of names and addresses. Pure; `problems` names what it could not understand, and `recognised` says whether
-- anything looked like a request at all.
--
-- A customer's name continues up to the next keyword, because names have several words. The text after `because` is the
-- justification, to the end and exactly as typed.
create or replace function inbound.parse_terms(p_text text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_typed text[] := regexp_match(left(p_text, 4000), '^(.*?)(?:(?:^|\s)because\s+(.*))?$', 'i');
  -- Phones type curly quotes; people say "30 days" and "for 30 days".
  v_text text := regexp_replace(regexp_replace(translate(v_typed[1], '“”„«»', '"""""'),
    '(^|\s)(?:for\s+)?(\d{1,5})\s*days?(?=\s|$)', '\1days \2', 'gi'), '<(?:mailto:[^|>]*\|)([^>]*)>', '\1', 'g');
  v_words constant jsonb := '{"for": "customer", "customer": "customer", "by": "needed_by", "needed_by": "needed_by",
    "days": "days", "duration": "days", "cost": "cost", "at": "cost", "owner": "owner", "group": "group", "team": "group",
    "email": "email", "mail": "email", "ttl": "ttl", "justification": "justification",
    "replaces": "replaces", "size": "size", "region": "region", "in": "region", "quantity": "quantity", "qty": "quantity"}';
  v_terms jsonb := jsonb_strip_nulls(jsonb_build_object('justification', v_typed[2]));
  v_problems jsonb := '[]';
  v_field text;
  v_token text[];
  v_word text;
  v_plain boolean;
begin
  for v_token in select m.match from regexp_matches(v_text, '([A-Za-z_]+=)?(?:"([^"]*)"|([^\s"]+))', 'g') m(match) limit 300 loop
    v_word := coalesce(v_token[2], v_token[3]);
    v_plain := v_token[2] is null;
    if v_token[1] is not null then
      if v_words ? lower(rtrim(v_token[1], '=') collate "C") then
        v_field := v_words ->> lower(rtrim(v_token[1], '=') collate "C");
      else
        v_word := v_token[1] || v_word;
      end if;
    elsif v_plain and v_words ? lower(v_word collate "C") and (v_field is distinct from 'customer' or v_terms ? 'customer') then
      v_field := v_words ->> lower(v_word collate "C");
      continue;
    end if;

    if v_field is null and v_plain then
      v_field := case
        when v_word ~* '^[x×*]\d{1,6}$' or v_word ~* '^\d{1,6}[x×*]$' then 'quantity'
        when v_word ~* '^\$[\d.,]+k?(/mo(nth)?)?$' then 'cost'
        when v_word ~* '^cr-\d{4}-\d{6,}$' then 'replaces'
        when v_word ~ '^[a-z]{2,}(-[a-z0-9]+)+$' then 'region'
        when not v_terms ? 'size' then 'size' end;
    end if;
    if v_field is null then
      v_problems := v_problems || to_jsonb(format('I did not understand “%s”.', left(v_word, 60)));
    elsif v_field = 'customer' then
      v_terms := v_terms || jsonb_build_object('customer', concat_ws(' ', v_terms ->> 'customer', v_word));
      continue;
    elsif v_terms ? v_field then
      v_problems := v_problems || to_jsonb(format('“%s” is given twice.', v_field));
    else
      v_terms := v_terms || jsonb_build_object(v_field, v_word);
    end if;
    v_field := null;
  end loop;

  return inbound.check_typed_terms(v_terms, v_problems) || jsonb_build_object(
    'recognised', v_terms ?| '{quantity,region,customer,needed_by,days,cost,owner,group}' or coalesce(v_terms ->> 'size' ~ '^\d', false));
end
$$;
comment on function inbound.parse_terms(text)
  is 'The terms of a request as somebody typed them: fields, problems, and whether anything was recognised.';
