-- What points at a request is found by it: where somebody is erased, and where a request's money is shown.
create index refunds_request on billing.refunds (request_id);
create index disputes_request on billing.disputes (request_id);
create index findings_request on billing.findings (request_id);
