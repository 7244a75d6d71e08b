-- Finds the outcomes of one agent by the hour, among those of all others.
create index call_outcome_rollups_agent on call_outcome_rollups (tenant_id, minutes, agent_key, starts_at) where not is_whole;
