-- What was said, by tenant and word: however much of a word others say, a tenant's search reads its own turns only.
create index transcript_turns_said on transcript_turns using gin ((array[tenant_id]), search) with (gin_pending_list_limit = 1024);
