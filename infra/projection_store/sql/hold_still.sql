-- The position of a generation, which stays there until this transaction ends.
select part, pos from projection.checkpoint where schema_name = %s order by part for update
