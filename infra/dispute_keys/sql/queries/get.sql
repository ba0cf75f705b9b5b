select wrapped from dispute.key where dispute_id = %s::uuid
