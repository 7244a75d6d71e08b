-- The calls of one campaign, newest first, are found without those of others; most calls are of none.
create index call_logs_by_campaign on call_logs (tenant_id, campaign_id, created_at desc, id desc) where campaign_id is not null;
