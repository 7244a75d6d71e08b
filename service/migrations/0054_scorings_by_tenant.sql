-- Sessions to be scored, tenant by tenant in the order in which they are: what waits of one holds up no other.
create index session_scorings_turns on session_scorings (tenant_id, due_at, session_id);
