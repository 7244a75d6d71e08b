-- So that all entries of a tenant can be gone through, some at a time.
create index audit_log_by_tenant on audit_log (tenant_id, id);
