select log_id::text from store.layout
