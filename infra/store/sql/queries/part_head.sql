select last_pos from store.part_head where part = %s
