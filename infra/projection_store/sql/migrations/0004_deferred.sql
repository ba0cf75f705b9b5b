-- The indexes that a generation in building is to have: made when its rows are there, in one go.
alter table projection.generation add column deferred text[];
