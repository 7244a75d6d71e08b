-- What was not delivered is looked through by whoever runs the installation, over all tenants.
create index billing_outbox_by_status on billing_outbox (status, created_at desc, id desc);
create index notification_outbox_by_status on notification_outbox (status, created_at desc, id desc);
