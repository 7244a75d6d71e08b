-- How many of a campaign are about to be called is asked before each call: without this, all of its contacts are gone through for that.
create index campaign_contacts_claimed on campaign_contacts (tenant_id, campaign_id) where claim_token is not null;
