-- By which whoever makes a campaign may ask again and have no second one.
create table campaign_keys (
  tenant_id   text not null,
  key         text not null,
  body_hash   bytea not null,
  -- The key is taken before there is a campaign, so that of several requests one goes on.
  campaign_id uuid not null,
  created_at  timestamptz(3) not null,
  primary key (tenant_id, key),
  foreign key (tenant_id, campaign_id) references campaigns on delete cascade deferrable initially deferred
);
create index campaign_keys_old on campaign_keys (created_at);
create index campaign_keys_campaign on campaign_keys (tenant_id, campaign_id);
