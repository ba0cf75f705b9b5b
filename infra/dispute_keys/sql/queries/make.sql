insert into dispute.key (dispute_id, wrapped, made_ms) values (%s::uuid, %s::bytea, %s::bigint) on conflict do nothing
