-- Why a member may not decide a request: because they asked for it (the answer is p_sentence), or because they may have. A member who came
-- through Slack has the Slack user's id as their own (directory.member_for_slack), and may be any member whose Slack user nobody has
-- recorded. Null for everybody else. Pure.
create or replace function capacity.own_refusal(p_request capacity.requests, p_standing directory.standing, p_sentence text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_request.requester_user_id = p_standing.member_id then p_sentence
    when not p_standing.linked and p_request.requester_user_id ~ '^(slack-)?[UW][A-Z0-9]{2,31}$'
      then 'Headroom cannot tell whether you asked for this yourself: it knows the requester only as a Slack user, and the directory has '
        'none for you. Ask an admin to link yours (headroom members put --slack), or to record that you have none (--without-slack).' end;
end
$$;
comment on function capacity.own_refusal(capacity.requests, directory.standing, text)
  is 'Why a member may not decide what they asked for, or may have asked for. Nullable: result.';
