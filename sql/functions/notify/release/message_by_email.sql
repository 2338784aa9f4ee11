-- A mail that tells a person one or several things: each with its title if there are several, its text and a link. Mails about one thing
-- form one thread. A mail that is not critical says how to stop such mails; the sender makes that link, and the customer's, at the moment
-- of sending. A member gets a link to their preferences.
--
-- Nearly every mail is about one thing in one paragraph. That case takes no query, because each takes longer to set up than to run.
create or replace function notify.message_by_email(p_told notify.notifications[], p_address text, p_name text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_first notify.notifications := p_told[1];
  v_count integer := cardinality(p_told);
  v_workspace directory.workspaces;
  v_blocks jsonb := jsonb_build_array(jsonb_build_object('text',
    coalesce('Hello ' || notify.email_text(nullif(p_name, ''), 200) || ',', 'Hello,')));
  v_subject text := notify.email_text(
    v_first.title || case when v_count > 1 then format(' (and %s more)', v_count - 1) else '' end, 200);
  v_place text := case v_first.link ->> 'kind' when 'confirmation' then '{{confirmation_link}}' end;
  v_stoppable boolean;
  v_kinds text;
  v_one_thread boolean := v_first.about is not null;
  v_body text;
  v_each notify.notifications;
begin
  select w.* into v_workspace from directory.workspaces w where w.id = v_first.workspace_id;
  v_stoppable := not v_first.critical and v_workspace.public_url is not null;
  foreach v_each in array p_told loop
    if v_count > 1 then
      v_blocks := v_blocks || jsonb_build_object('heading', notify.email_text(v_each.title, 400));
    end if;
    v_body := regexp_replace(notify.render_text(v_each.body, 20000), '\{(?=\{)', '{ ', 'g');
    if v_count = 1 and notify.mail_share(v_each) > 30000 then
      -- A mail cannot have thousands of paragraphs: their text stays, without the empty lines between them.
      v_body := regexp_replace(v_body, '\n{2,}', E'\n', 'g');
    end if;
    if strpos(v_body, E'\n\n') = 0 then
      v_blocks := v_blocks || jsonb_build_object('text', v_body);
    else
      v_blocks := v_blocks || (select jsonb_agg(jsonb_build_object('text', t) order by n)
                                 from regexp_split_to_table(v_body, E'\n{2,}') with ordinality x(t, n));
    end if;
    if v_each.action_url is not null then
      v_blocks := v_blocks || jsonb_build_object(
        'button', 'View', 'label', notify.email_text('View: ' || v_each.title, 200), 'url', v_each.action_url);
    end if;
  end loop;
  if v_count > 1 then
    v_one_thread := (select count(distinct t.about) = 1 and count(t.about) = v_count from unnest(p_told) t);
  end if;
  -- A thing that asks for an answer goes alone: it is critical.
  if v_count = 1 and v_place is not null then
    v_blocks := v_blocks || jsonb_build_array(jsonb_build_object(
      'button', coalesce(notify.email_text(v_first.link ->> 'words', 60), 'Open'), 'url', v_place))
      || case when v_first.link ? 'note'
              then jsonb_build_array(jsonb_build_object('text', notify.email_text(v_first.link ->> 'note', 500))) else '[]' end;
  end if;
  v_blocks := v_blocks || jsonb_build_object('small', notify.email_text(v_workspace.name, 200));
  if v_stoppable then
    select string_agg(c.title, ', ' order by c.title) into v_kinds from notify.categories c
     where c.category in (select t.category from unnest(p_told) t);
    v_blocks := v_blocks || jsonb_build_object(
      'small', format('You get mails from %s about: %s.', notify.email_text(v_workspace.name, 200), v_kinds),
      'link', 'Stop these mails', 'url', '{{unsubscribe_link}}');
  end if;
  if v_first.recipient_kind = 'member' and v_workspace.public_url is not null then
    v_blocks := v_blocks || jsonb_build_object(
      'small', 'You choose what you are told, how and when.', 'link', 'Preferences',
      'url', rtrim(v_workspace.public_url, '/') || '/preferences');
  end if;
  return jsonb_build_object('to', p_address, 'subject', v_subject, 'text', notify.email_plain(v_blocks),
                            'html', notify.email_html(v_subject, v_blocks))
    || case when v_count = 1 and v_place is not null
            then jsonb_build_object('confirmation_token_id', v_first.link -> 'id', 'confirmation_base_url', v_first.link -> 'base')
            else '{}' end
    || case when v_stoppable then jsonb_build_object('unsubscribe', jsonb_build_object('id', v_first.id, 'base', v_workspace.public_url))
            else '{}' end
    || case when v_one_thread
            then jsonb_build_object('thread', jsonb_build_object('about', v_first.about, 'workspace', v_first.workspace_id)) else '{}' end;
end
$$;
comment on function notify.message_by_email(notify.notifications[], text, text)
  is 'The payload of a mail about one or several things. Nullable: p_name.';
