update dispute.key set wrapped = null, erased_ms = %s::bigint where dispute_id = %s::uuid and wrapped is not null
