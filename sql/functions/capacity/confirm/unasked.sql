-- Why the customer of a request has not been asked, or, while it is under review, will not be; null if they have been, or are no longer
-- to be asked:
--
--   no_address, bad_address   not known, or the given value is invalid     mail_failed  the mail with the link was given up or bounced
--   no_public_url             the workspace has none for the link          not_sent     the obstacle is gone, but no link was sent
--   erased                    the customer's data was erased
--
-- A mail that is still on its way is treated as asking. Of several, only the last one to ask and what followed it count, since an
-- earlier one may have gone to an address that was replaced.
create or replace function capacity.unasked(p_request_id text, p_state public.capacity_request_state) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_links bigint := 0;
  v_asked boolean;
  v_problem text;
begin
  if p_state = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    select count(*), max(k.asked_at) filter (where not k.lost) >= coalesce(max(k.asked_at) filter (where not k.warns), '-infinity')
      into v_links, v_asked from capacity.links_of(p_request_id) k;
    if v_asked then
      return null;
    end if;
  elsif p_state not in ('SUBMITTED', 'UNDER_REVIEW') then
    return null;
  end if;
  v_problem := (capacity.customer_reach(p_request_id)).problem;
  return case when v_problem is not null or p_state <> 'CUSTOMER_CONFIRMATION_REQUIRED' then v_problem
              when v_links > 0 then 'mail_failed' else 'not_sent' end;
end
$$;
comment on function capacity.unasked(text, public.capacity_request_state)
  is 'Why the customer of a request has not been asked, as a word. Nullable: result.';
