select part, last_pos from store.part_head order by part
