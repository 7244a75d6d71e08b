-- When a sweep last judged the agent's rollout: those that have waited longest come first.
alter table rollout_policies add column swept_at timestamptz(3);
create index rollout_policies_swept on rollout_policies (swept_at nulls first, tenant_id, agent_id);
