-- What a request is asked for with, under the names that the columns of capacity.requests and capacity.personal_data have where there is
-- one: rows, payloads and fingerprints are made from it by name. The order counts in fingerprints of submissions, so new attributes come
-- last, where `add attribute` puts them.
create type capacity.terms as (
  commercial_owner_user_id text,
  infra_owner_group text,
  customer_ref jsonb,
  requested_size text,
  quantity integer,
  region text,
  needed_by_date date,
  expected_duration_days integer,
  estimated_monthly_cost_usd numeric,
  confirmation_ttl_days integer,
  slack_channel_id text,
  replaces_request_id text,
  customer_id text
);
comment on type capacity.terms is 'What a request is asked for with.';

-- Instead of one value of it, all that personal_data holds of the request.
alter type capacity.context drop attribute customer_ref, add attribute personal capacity.personal_data;

comment on column capacity.requests.customer_hash
  is 'Salted hash of what personal_data holds of the request, which can be erased there. See capacity.personal_hash().';

-- These take capacity.terms.
drop function if exists capacity.check_terms(jsonb, text, integer, text, date, integer, numeric, integer, text, text);
drop function if exists capacity.submit(
  capacity.actor, directory.workspaces, text, text, jsonb, text, integer, text, date, integer, numeric, integer, text, text, text, text);
