-- When a draft was changed last; null for what speaks as it was written at first. Publishing does not change what a version says.
alter table agent_versions add column config_changed_at timestamptz;
update agent_versions set config_changed_at = updated_at where status = 'draft' and updated_at > created_at;
