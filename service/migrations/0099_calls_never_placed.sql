-- What was given to calls that no carrier took: there is no session of them by whose age it goes.
create index call_logs_never_placed on call_logs (tenant_id, created_at) where call_sid is null and metadata <> '{}';
create index dials_never_placed on dials (tenant_id, created_at) where state = 'failed' and greeting is not null;
