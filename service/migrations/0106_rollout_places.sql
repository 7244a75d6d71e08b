-- Where a share begins among the callers of its agent, in hundredths of a percent; null, from before this column: right behind the one before it.
alter table agent_version_rollouts add column starts_at integer;
