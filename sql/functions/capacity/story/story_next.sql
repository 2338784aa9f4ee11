-- Whom an event or a notice calls upon: those whose turn it is now, or the requester when the request is decided. Nobody is pinged for an
-- approval that leaves another review open: its reviewers have been asked.
create or replace function capacity.story_next(p_story jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_story ? 'notice' then
    return p_story -> 'mention';
  elsif p_story -> 'counts' = 'false' then
    return p_story #> '{commercial,asked}';
  elsif p_story ->> 'state' = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    -- Those who can fix it when the customer is not asked, or may record their answer; otherwise the requester, so that somebody hears of
    -- it.
    return coalesce(nullif(p_story -> 'fixers', '[]'), nullif(p_story #> '{confirmation,asked}', '[]'),
                    jsonb_build_array(p_story -> 'requester'));
  elsif p_story ->> 'state' in ('SUBMITTED', 'UNDER_REVIEW') then
    return '[]';
  end if;
  return jsonb_build_array(p_story -> 'requester');
end
$$;
comment on function capacity.story_next(jsonb) is 'Member ids of those whom a message should ping. Nullable: result.';
