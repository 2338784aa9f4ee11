-- The same row writes in one plain function (apply-one-function.sql).
select bench.approve(bench.request_id(nextval('bench.requests')));
