-- So that all dials of a tenant can be gone through, some at a time.
create index dials_by_tenant on dials (tenant_id, dial_ref);
