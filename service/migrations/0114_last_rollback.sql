-- What a rollout lost last by its policy, when and why; null while it has lost nothing, and of what was lost before this was kept.
alter table rollout_policies add column last_rollback jsonb;
